/** Renders all pages as HTML. This takes about a second, so it runs in a worker thread (guide-worker.ts). */

import { posix } from 'node:path';
import {
  GUIDE_FILES,
  type GuidePage,
  SECTIONS,
  SOCKET_DOCUMENTS,
  SOCKETS_ADDRESS,
  textOf,
} from './guide-pages.ts';
import { type LinkTarget, markdownPage } from './markdown-page.ts';
import { relativeAddress, renderPage } from './page-frame.ts';
import { socketsPage } from './sockets-page.ts';

const PAGES = SECTIONS.flatMap(({ pages }) => pages);

/** Page addresses by file of the repository. */
const ADDRESSES: ReadonlyMap<string, string> = new Map([
  ...[...PAGES, ...GUIDE_FILES].map(({ file, address }) => [file, address] as const),
  ...SOCKET_DOCUMENTS.map(({ file, anchor }) => [file, `${SOCKETS_ADDRESS}#${anchor}`] as const),
]);

/** Renders all pages, one after another. */
export function* renderGuide(): Generator<readonly [address: string, html: string]> {
  for (const page of PAGES) {
    const text = markdownPage(textOf(page.file), linkTargetOf(page));
    yield [page.address, renderPage(page.address, text)];
  }
  yield [SOCKETS_ADDRESS, renderPage(SOCKETS_ADDRESS, socketsPage())];
}

/** Converts links between files of the repository to links between pages. Links to files without a page are removed. */
function linkTargetOf(page: GuidePage): LinkTarget {
  return (href) => {
    if (/^(https?:|#)/.test(href)) return href;
    const [path = '', anchor] = href.split('#');
    const address = ADDRESSES.get(posix.join(posix.dirname(page.file), path));
    if (address === undefined) return undefined;
    const to = relativeAddress(page.address, address);
    return anchor === undefined ? to : `${to}#${anchor}`;
  };
}
