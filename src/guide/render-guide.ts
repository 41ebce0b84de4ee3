/** Every page as HTML. Takes a second for all of them, so src/guide/guide-worker.ts does it. */

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
import { framedPage, relativeAddress } from './page-frame.ts';
import { socketsPage } from './sockets-page.ts';

const PAGES = SECTIONS.flatMap(({ pages }) => pages);

/** Where a file of the repository is shown. */
const ADDRESSES: ReadonlyMap<string, string> = new Map([
  ...[...PAGES, ...GUIDE_FILES].map(({ file, address }) => [file, address] as const),
  ...SOCKET_DOCUMENTS.map(({ file, anchor }) => [file, `${SOCKETS_ADDRESS}#${anchor}`] as const),
]);

/** All pages with their addresses, one after the other. */
export function* guideHtml(): Generator<readonly [address: string, html: string]> {
  for (const page of PAGES) {
    const text = markdownPage(textOf(page.file), linkTargetOf(page));
    yield [page.address, framedPage(page.address, text)];
  }
  yield [SOCKETS_ADDRESS, framedPage(SOCKETS_ADDRESS, socketsPage())];
}

/** Links between files of the repository become links between pages; what has no page keeps its text alone. */
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
