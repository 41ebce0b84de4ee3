import { posix } from 'node:path';
import type { Route } from '../../contract/route.ts';
import { GUIDE_FILES, PAGE_ADDRESSES, pathOf } from '../../guide/guide-pages.ts';
import { pageHtml } from '../../guide/rendered-guide.ts';
import { publicPage } from '../openapi/route-docs.ts';
import { route } from '../route.ts';
import { addressOf } from '../transport/address.ts';

const HTML = 'text/html; charset=utf-8';

const GUIDE_PAGE = publicPage(
  'The guide',
  'text/html',
  'Documentation for API users and operators; `/docs/sockets` documents the WebSocket events.',
);
/** The document lists only the first page. */
const OTHER_PAGE = { isHidden: true, isPublic: true } as const;

const HEADERS = {
  'cache-control': 'no-cache',
  // The pages contain no scripts; they load only their style sheet and images.
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
};

/** `GET /docs` and `GET /docs/…`: the guide for API users and operators. */
export function docsRoutes(): readonly Route[] {
  const pages = PAGE_ADDRESSES.map((address) =>
    route({
      method: 'GET',
      path: `/${address}`,
      ...(address === 'docs' ? GUIDE_PAGE : OTHER_PAGE),
      async handle({ request }) {
        const { pathname } = addressOf(request);
        if (pathname.endsWith('/')) return withoutSlash(pathname);
        return new Response(await pageHtml(address), { headers: { ...HEADERS, 'content-type': HTML } });
      },
    }),
  );
  const files = GUIDE_FILES.map(({ address, file }) => {
    const content = Bun.file(pathOf(file));
    const headers = { ...HEADERS, 'content-type': content.type };
    return route({
      method: 'GET',
      path: `/${address}`,
      ...OTHER_PAGE,
      handle: () => new Response(content, { headers }),
    });
  });
  return [...pages, ...files];
}

/** The router ignores a trailing slash, but the relative links of a page need the path without it. */
function withoutSlash(pathname: string): Response {
  return new Response(null, { status: 308, headers: { location: `../${posix.basename(pathname)}` } });
}
