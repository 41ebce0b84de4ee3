import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { Elysia } from 'elysia';
import { publicPage } from './openapi.ts';

const FOLDER = join(import.meta.dirname, '../../web');

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
};

const HEADERS = {
  'cache-control': 'no-cache',
  // Nothing but the page's own files runs, and it talks to this server only.
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'",
  'x-content-type-options': 'nosniff',
};

/** Styles and scripts of the console page, by their path here. */
export const CONSOLE_FILES: readonly string[] = readdirSync(FOLDER)
  .filter((name) => extname(name) in TYPES)
  .map((name) => `/console/${name}`);

/** `GET /`: the console page, and the files that it loads, all read once, at start. */
export function consoleRoutes() {
  const routes = new Elysia({ name: 'console', tags: ['service'] });
  routes.get('/', fileAnswer('index.html', 'text/html; charset=utf-8'), {
    detail: publicPage('The console page', 'text/html'),
  });
  for (const path of CONSOLE_FILES) {
    const type = TYPES[extname(path)] ?? '';
    routes.get(path, fileAnswer(path.replace('/console/', ''), type), { detail: { hide: true } });
  }
  return routes;
}

function fileAnswer(name: string, type: string): () => Response {
  const bytes = readFileSync(join(FOLDER, name));
  return () => new Response(bytes, { headers: { ...HEADERS, 'content-type': type } });
}
