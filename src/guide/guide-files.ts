/** Every file that is served below `/docs`. */

import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { type GuidePage, PICTURES, pictureBytes, SECTIONS, SOCKETS_ADDRESS, textOf } from './guide-pages.ts';
import { type LinkTarget, markdownPage } from './markdown-page.ts';
import { framedPage, relativeAddress, STYLE_ADDRESS } from './page-frame.ts';
import { SOCKET_DOCUMENTS, socketsPage } from './sockets-page.ts';

export interface GuideFile {
  /** Path without the slash at its beginning. */
  readonly address: string;
  readonly type: string;
  /** Made when it is asked for, and kept. */
  content(): string | Uint8Array<ArrayBuffer>;
}

const HTML = 'text/html; charset=utf-8';
const PAGES = SECTIONS.flatMap(({ pages }) => pages);

/** Where a file of the repository is shown. */
const ADDRESSES: ReadonlyMap<string, string> = new Map([
  ...PAGES.map(({ file, address }) => [file, address] as const),
  ...PICTURES.map((name) => [`docs/${name}`, `docs/${name}`] as const),
  ...SOCKET_DOCUMENTS.map(({ file, anchor }) => [file, `${SOCKETS_ADDRESS}#${anchor}`] as const),
]);

export const GUIDE_FILES: readonly GuideFile[] = [
  ...PAGES.map((page) => file(page.address, HTML, () => framedPage(page.address, pageText(page)))),
  file(SOCKETS_ADDRESS, HTML, () => framedPage(SOCKETS_ADDRESS, socketsPage())),
  ...SOCKET_DOCUMENTS.map(({ address, file: path }) => file(address, 'application/json', () => textOf(path))),
  file(STYLE_ADDRESS, 'text/css; charset=utf-8', () =>
    readFileSync(join(import.meta.dirname, 'guide.css'), 'utf8'),
  ),
  ...PICTURES.map((name) => file(`docs/${name}`, 'image/png', () => pictureBytes(name))),
];

function file(address: string, type: string, make: GuideFile['content']): GuideFile {
  let made: ReturnType<GuideFile['content']> | undefined;
  return {
    address,
    type,
    content() {
      made ??= make();
      return made;
    },
  };
}

function pageText(page: GuidePage) {
  return markdownPage(textOf(page.file), linkTargetOf(page));
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
