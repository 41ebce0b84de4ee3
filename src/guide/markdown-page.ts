/** From Markdown to what a page shows. The only importer of marked. */

import { lexer, Parser, Renderer, type Token, type Tokens, walkTokens } from 'marked';
import { highlighted } from './highlighted.ts';

/** A place at which a page can be entered. */
export interface Heading {
  /** 1 is the title. */
  readonly level: number;
  readonly text: string;
  /** What stands behind `#` in an address. */
  readonly anchor: string;
}

export interface PageText {
  readonly title: string;
  readonly headings: readonly Heading[];
  readonly html: string;
}

/** The address of what a link names, undefined for what is not shown here: then its text stands alone. */
export type LinkTarget = (href: string) => string | undefined;

/** Comments are left out; other HTML is not expected in our pages, and is left out as well. */
export function markdownPage(markdown: string, linkTarget: LinkTarget): PageText {
  const tokens = lexer(markdown);
  const headings = headingsOf(tokens);
  const renderer = new PageRenderer(headings, linkTarget);
  const html = Parser.parse(tokens, { renderer });
  return { title: headings[0]?.text ?? '', headings, html };
}

/** Every heading of a page, in order. */
export function headingsIn(markdown: string): readonly Heading[] {
  return headingsOf(lexer(markdown));
}

/** What every link and image of a page names. */
export function hrefsIn(markdown: string): readonly string[] {
  const hrefs: string[] = [];
  walkTokens(lexer(markdown), (token) => {
    if (token.type === 'link' || token.type === 'image') hrefs.push(token.href);
  });
  return hrefs;
}

/** Fenced blocks of a page that name their language, each with the text right before it. */
export function codeIn(markdown: string): readonly { language: string; code: string; before: string }[] {
  const tokens = lexer(markdown).filter(({ type }) => type !== 'space');
  return tokens.flatMap((token, index) => {
    if (token.type !== 'code' || !token.lang) return [];
    return { language: token.lang, code: token.text, before: tokens[index - 1]?.raw ?? '' };
  });
}

function headingsOf(tokens: readonly Token[]): readonly Heading[] {
  const taken = new Map<string, number>();
  return tokens.filter(isHeading).map(({ depth, tokens: inline }) => {
    const text = plainText(inline);
    const plain = text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-');
    const before = taken.get(plain) ?? 0;
    taken.set(plain, before + 1);
    return { level: depth, text, anchor: before === 0 ? plain : `${plain}-${before}` };
  });
}

function isHeading(token: Token): token is Tokens.Heading {
  return token.type === 'heading';
}

/** What is read of tokens within a line. */
function plainText(tokens: readonly Token[]): string {
  return tokens
    .map((token) =>
      'tokens' in token && token.tokens ? plainText(token.tokens) : 'text' in token && token.text,
    )
    .join('');
}

class PageRenderer extends Renderer {
  readonly #headings: Iterator<Heading>;
  readonly #linkTarget: LinkTarget;

  constructor(headings: readonly Heading[], linkTarget: LinkTarget) {
    super();
    this.#headings = headings[Symbol.iterator]();
    this.#linkTarget = linkTarget;
  }

  override heading({ tokens, depth }: Tokens.Heading): string {
    const { anchor } = this.#headings.next().value as Heading;
    const text = this.parser.parseInline(tokens);
    if (depth === 1) return `<h1 id="${anchor}">${text}</h1>\n`;
    return `<h${depth} id="${anchor}"><a class="anchor" href="#${anchor}">${text}</a></h${depth}>\n`;
  }

  override link(token: Tokens.Link): string {
    const text = this.parser.parseInline(token.tokens);
    const address = this.#linkTarget(token.href);
    return address === undefined ? text : `<a href="${Bun.escapeHTML(address)}">${text}</a>`;
  }

  override image({ href, text }: Tokens.Image): string {
    const address = this.#linkTarget(href);
    return address === undefined
      ? ''
      : `<img src="${Bun.escapeHTML(address)}" alt="${Bun.escapeHTML(text)}">`;
  }

  // Both may be wider than a telephone, and must then be reached by the keyboard to be scrolled.
  override table(token: Tokens.Table): string {
    return `<div class="wide" tabindex="0">${super.table(token)}</div>\n`;
  }

  override code({ text, lang = '' }: Tokens.Code): string {
    return codeBlock(text, lang);
  }

  override html(): string {
    return '';
  }
}

/** A block of code, which scrolls by itself. */
export function codeBlock(code: string, language: string): string {
  const name = language === '' ? '' : ` data-language="${Bun.escapeHTML(language)}"`;
  return `<pre tabindex="0"${name}><code>${highlighted(code, language)}</code></pre>\n`;
}
