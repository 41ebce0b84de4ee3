import { posix } from 'node:path';
import { Elysia } from 'elysia';
import { GUIDE_FILES } from '../guide/guide-files.ts';
import { addressOf } from './address.ts';
import { publicPage } from './openapi.ts';

const HEADERS = {
  'cache-control': 'no-cache',
  // Pages to read: nothing in them runs, and they load their style sheet and pictures only.
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
};

/** Paths of the guide, none of which needs a key. */
export const DOCS_PATHS: readonly string[] = GUIDE_FILES.map(({ address }) => `/${address}`);

/** `GET /docs` and what is below it: the guide, for who uses or runs the service. */
export function docsRoutes() {
  const routes = new Elysia({ name: 'docs', tags: ['service'] });
  for (const { address, type, content } of GUIDE_FILES) {
    routes.get(
      `/${address}`,
      ({ request }) => {
        const { pathname } = addressOf(request);
        if (pathname.endsWith('/')) return withoutSlash(pathname);
        return new Response(content(), { headers: { ...HEADERS, 'content-type': type } });
      },
      {
        detail:
          address === 'docs'
            ? publicPage(
                'The guide',
                'text/html',
                'Pages for who uses or runs the service; `/docs/sockets` has the events of the WebSockets.',
              )
            : { hide: true },
      },
    );
  }
  return routes;
}

/** The router ignores a slash at the end, but the links of a page are relative to the path without it. */
function withoutSlash(pathname: string): Response {
  return new Response(null, { status: 308, headers: { location: `../${posix.basename(pathname)}` } });
}
