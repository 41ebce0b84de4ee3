/** The layout of every page: head, navigation, table of contents. Without scripts. */

import { type GuidePage, SECTIONS, SOCKETS_ADDRESS, STYLE } from './guide-pages.ts';
import type { PageText } from './markdown-page.ts';

/** Links of the top bar. */
const TOP: readonly (readonly [label: string, address: string])[] = [
  ['Console', ''],
  ['Docs', 'docs'],
  ['Sockets', SOCKETS_ADDRESS],
  ['API', 'swagger'],
];

/**
 * Renders a page of the guide as a complete HTML document.
 * @param address address of the page. All links are relative to it, so that the service also works behind a path prefix.
 */
export function renderPage(address: string, { title, headings, html }: PageText): string {
  const link = (to: string, label: string) => {
    const current = to === address ? ' aria-current="page"' : '';
    return `<a href="${relativeAddress(address, to)}"${current}>${Bun.escapeHTML(label)}</a>`;
  };
  const navigationItem = ({ address: to, label }: GuidePage) => `<li>${link(to, label)}</li>`;
  const sections = SECTIONS.map(({ title: name, pages, folded }) => {
    const list = `<ul>${pages.map(navigationItem).join('')}</ul>`;
    if (!folded) return `<h2>${name}</h2>${list}`;
    const open = pages.some((page) => page.address === address) ? ' open' : '';
    return `<details${open}><summary>${name}</summary>${list}</details>`;
  });
  const tableOfContents = headings
    .filter(({ level }) => level === 2)
    .map(({ anchor, text }) => `<li><a href="#${anchor}">${Bun.escapeHTML(text)}</a></li>`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${Bun.escapeHTML(title)} · Voice service</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${relativeAddress(address, STYLE.address)}">
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header class="top"><strong>Voice service</strong><nav aria-label="Service">${TOP.map(([label, to]) => link(to, label)).join(' ')}</nav></header>
<div class="columns">
<div class="side">
<input type="checkbox" id="menu"><label for="menu">All pages</label>
<nav class="pages" aria-label="Pages">${sections.join('\n')}</nav>
</div>
<main id="content">
${html}</main>
${tableOfContents.length < 2 ? '' : `<nav class="toc" aria-label="On this page"><h2>On this page</h2><ul>${tableOfContents.join('')}</ul></nav>`}
</div>
</body>
</html>
`;
}

/** The relative URL from one page to another. */
export function relativeAddress(from: string, to: string): string {
  const up = '../'.repeat(from.split('/').length - 1);
  return `${up}${to}` || './';
}
