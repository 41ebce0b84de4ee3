import { Elysia } from 'elysia';
import { publicPage } from './openapi.ts';

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-cache',
  // The page is one file: nothing but its own script and style runs, and it talks to this server only.
  'content-security-policy':
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; img-src data:",
};

/** `GET /`: the console page. @param html the page, read once at start. */
export function consoleRoute(html: string) {
  return new Elysia({ name: 'console', tags: ['service'] }).get(
    '/',
    () => new Response(html, { headers: HEADERS }),
    {
      detail: publicPage('The console page', 'text/html'),
    },
  );
}
