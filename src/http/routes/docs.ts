import { posix } from 'node:path';
import { Elysia } from 'elysia';
import { GUIDE_FILES, PAGE_ADDRESSES, pathOf } from '../../guide/guide-pages.ts';
import { pageHtml } from '../../guide/rendered-guide.ts';
import { publicPage } from '../openapi/openapi.ts';
import { addressOf } from '../transport/address.ts';

const HTML = 'text/html; charset=utf-8';

const GUIDE_DETAIL = publicPage(
  'The guide',
  'text/html',
  'Documentation for API users and operators; `/docs/sockets` documents the WebSocket events.',
);

const HEADERS = {
  'cache-control': 'no-cache',
  // The pages contain no scripts; they load only their style sheet and images.
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
};

/** Paths of the guide; none of them needs an API key. */
export const DOCS_PATHS: readonly string[] = [
  ...PAGE_ADDRESSES,
  ...GUIDE_FILES.map(({ address }) => address),
].map((address) => `/${address}`);

/** `GET /docs` and `GET /docs/…`: the guide for API users and operators. */
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
      { detail: address === 'docs' ? GUIDE_DETAIL : { hide: true } },
    );
  }
  for (const { address, file } of GUIDE_FILES) {
    const content = Bun.file(pathOf(file));
    const response = () => new Response(content, { headers: { ...HEADERS, 'content-type': content.type } });
    routes.get(`/${address}`, response, { detail: { hide: true } });
  }
  return routes;
}

/** The router ignores a trailing slash, but the relative links of a page need the path without it. */
function withoutSlash(pathname: string): Response {
  return new Response(null, { status: 308, headers: { location: `../${posix.basename(pathname)}` } });
}
