import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { ServiceError } from '../../contract/core/error.ts';
import type { Route } from '../../contract/route.ts';
import { publicPage } from '../openapi/route-docs.ts';
import { route } from '../route.ts';

/** Output folder of scripts/build-console.ts. */
export const CONSOLE_FOLDER = join(import.meta.dirname, '../../../.cache/console');

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};
const FILE_NAME = /^[\w-]+(?:\.[\w-]+)*\.(css|js|svg)$/;
const NONCE_PLACEHOLDER = '{{style-nonce}}';

/**
 * Content security policy of the console: only its own scripts run, and they connect only to this server. Style elements
 * need the nonce. Audio and images are fetched with the API key and displayed from `blob:` URLs.
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
 * `GET /`: the console page. `GET /console/…`: its static files, whose names contain a hash of the content.
 * @param folder build output; if it is missing, the page returns an error with build instructions.
 */
export function consoleRoutes(folder: string): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/',
      ...publicPage('The console', 'text/html'),
      handle: () => page(folder),
    }),
    route({
      method: 'GET',
      path: '/console/:file',
      isHidden: true,
      isPublic: true,
      handle: ({ params, request }) => file(folder, params.file, request),
    }),
  ];
}

async function page(folder: string): Promise<Response> {
  const built = Bun.file(join(folder, 'index.html'));
  if (!(await built.exists())) {
    throw new ServiceError(
      'overloaded',
      "The console is not built. Run 'bun scripts/setup.ts' ('bun run start' does so automatically).",
      { code: 'server_error' },
    );
  }
  const nonce = randomBytes(16).toString('base64url');
  const html = (await built.text()).replace(NONCE_PLACEHOLDER, nonce);
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
      'Console file not found. The console may have been updated: reload the page.',
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
