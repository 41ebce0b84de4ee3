import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Elysia } from 'elysia';
import { ServiceError } from '../../contract/core/error.ts';
import { publicPage } from '../openapi/openapi.ts';

/** Where scripts/build-console.ts leaves the console. */
export const CONSOLE_FOLDER = join(import.meta.dirname, '../../../.cache/console');

/** Of every file of the console but its page; such a path needs no key. */
export const CONSOLE_PREFIX = '/console/';

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};
const FILE_NAME = /^[\w-]+(?:\.[\w-]+)*\.(css|js|svg)$/;
const NONCE_PLACE = '{{style-nonce}}';

/**
 * Nothing but the console's own files runs, and it talks to this server only. Style elements need the page's nonce;
 * sound and pictures that were fetched with the key are shown from memory.
 */
const policy = (nonce: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "connect-src 'self'",
    "img-src 'self' blob: data:",
    "media-src 'self' blob:",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/**
 * `GET /`: the console page. `GET /console/…`: the files that it loads, whose names change with what is in them.
 * @param folder what the build made; where that is missing, the page's answer says how to make it.
 */
export function consoleRoutes(folder: string) {
  return new Elysia({ name: 'console', tags: ['service'] })
    .get('/', () => page(folder), { detail: publicPage('The console', 'text/html') })
    .get('/console/:file', ({ params, request }) => file(folder, params.file, request), {
      detail: { hide: true },
    });
}

async function page(folder: string): Promise<Response> {
  const built = Bun.file(join(folder, 'index.html'));
  if (!(await built.exists())) {
    throw new ServiceError(
      'overloaded',
      "The console was not built. Run 'bun scripts/setup.ts', which 'bun run start' does by itself.",
      { code: 'server_error' },
    );
  }
  const nonce = randomBytes(16).toString('base64url');
  const html = (await built.text()).replace(NONCE_PLACE, nonce);
  return new Response(html, {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy(nonce),
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-cache',
    },
  });
}

async function file(folder: string, name: string, request: Request): Promise<Response> {
  const [, type = ''] = FILE_NAME.exec(name) ?? [];
  const plain = Bun.file(join(folder, name));
  if (type === '' || !(await plain.exists())) {
    throw new ServiceError(
      'not_found',
      'The console has no such file. It may have been updated: load it again.',
    );
  }
  const headers = {
    'content-type': TYPES[type] ?? '',
    'cache-control': 'public, max-age=31536000, immutable',
    vary: 'accept-encoding',
    'x-content-type-options': 'nosniff',
  };
  const small = Bun.file(join(folder, `${name}.gz`));
  const takesGzip = /\bgzip\b/.test(request.headers.get('accept-encoding') ?? '');
  if (!takesGzip || !(await small.exists())) return new Response(plain, { headers });
  return new Response(small, { headers: { ...headers, 'content-encoding': 'gzip' } });
}
