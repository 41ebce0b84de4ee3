import { posix } from 'node:path';
import { Elysia } from 'elysia';
import { GUIDE_FILES, PAGE_ADDRESSES, pathOf } from '../../guide/guide-pages.ts';
import { pageHtml } from '../../guide/made-guide.ts';
import { publicPage } from '../openapi/openapi.ts';
import { addressOf } from '../transport/address.ts';

const HTML = 'text/html; charset=utf-8';

const FIRST_PAGE = publicPage(
  'The guide',
  'text/html',
  'Pages for who uses or runs the service; `/docs/sockets` has the events of the WebSockets.',
);

const HEADERS = {
  'cache-control': 'no-cache',
  // Pages to read: nothing in them runs, and they load their style sheet and pictures only.
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
};

/** Paths of the guide, none of which needs a key. */
export const DOCS_PATHS: readonly string[] = [
  ...PAGE_ADDRESSES,
  ...GUIDE_FILES.map(({ address }) => address),
].map((address) => `/${address}`);

/** `GET /docs` and what is below it: the guide, for who uses or runs the service. */
export function docsRoutes() {
  const routes = new Elysia({ name: 'docs', tags: ['service'] });
  for (const address of PAGE_ADDRESSES) {
    routes.get(
      `/${address}`,
      async ({ request }) => {
        const { pathname } = addressOf(request);
        if (pathname.endsWith('/')) return withoutSlash(pathname);
        return new Response(await pageHtml(address), { headers: { ...HEADERS, 'content-type': HTML } });
      },
      { detail: address === 'docs' ? FIRST_PAGE : { hide: true } },
    );
  }
  for (const { address, file } of GUIDE_FILES) {
    const content = Bun.file(pathOf(file));
    const answer = () => new Response(content, { headers: { ...HEADERS, 'content-type': content.type } });
    routes.get(`/${address}`, answer, { detail: { hide: true } });
  }
  return routes;
}

/** The router ignores a slash at the end, but the links of a page are relative to the path without it. */
function withoutSlash(pathname: string): Response {
  return new Response(null, { status: 308, headers: { location: `../${posix.basename(pathname)}` } });
}
