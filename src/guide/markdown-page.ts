/** Renders Markdown as HTML. The only importer of marked. */

import { lexer, Parser, Renderer, type Token, type Tokens, walkTokens } from 'marked';
import { highlightCode } from './highlight-code.ts';

/** A heading with an anchor. */
export interface Heading {
  /** 1 is the title. */
  readonly level: number;
  readonly text: string;
  /** The URL fragment, without `#`. */
  readonly anchor: string;
}

export interface PageText {
  readonly title: string;
  readonly headings: readonly Heading[];
  readonly html: string;
}

/** Maps the target of a link to its URL; undefined if the target has no page, then only the text of the link is rendered. */
export type LinkTarget = (href: string) => string | undefined;

/** Renders a page. HTML in the Markdown, including comments, is removed. */
export function markdownPage(markdown: string, linkTarget: LinkTarget): PageText {
  const tokens = lexer(markdown);
  const headings = headingsOf(tokens);
  const renderer = new PageRenderer(headings, linkTarget);
  const html = Parser.parse(tokens, { renderer });
  return { title: headings[0]?.text ?? '', headings, html };
}

/** All headings of a page, in order. */
export function headingsIn(markdown: string): readonly Heading[] {
  return headingsOf(lexer(markdown));
}

/** The targets of all links and images of a page. */
export function hrefsIn(markdown: string): readonly string[] {
  const hrefs: string[] = [];
  walkTokens(lexer(markdown), (token) => {
    if (token.type === 'link' || token.type === 'image') hrefs.push(token.href);
  });
  return hrefs;
}

/** The fenced code blocks of a page that have a language, each with the Markdown of the preceding block. */
export function codeIn(markdown: string): readonly { language: string; code: string; before: string }[] {
  const tokens = lexer(markdown).filter(({ type }) => type !== 'space');
  return tokens.flatMap((token, index) => {
    if (token.type !== 'code' || !token.lang) return [];
    return { language: token.lang, code: token.text, before: tokens[index - 1]?.raw ?? '' };
  });
}

function headingsOf(tokens: readonly Token[]): readonly Heading[] {
  const used = new Map<string, number>();
  return tokens.filter(isHeading).map(({ depth, tokens: inline }) => {
    const text = plainText(inline);
    const plain = text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-');
    const before = used.get(plain) ?? 0;
    used.set(plain, before + 1);
    return { level: depth, text, anchor: before === 0 ? plain : `${plain}-${before}` };
  });
}

function isHeading(token: Token): token is Tokens.Heading {
  return token.type === 'heading';
}

/** The plain text of inline tokens. */
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

  // Tables and code can be wider than the screen; `tabindex` makes them scrollable with the keyboard.
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

/** A scrollable code block. */
export function codeBlock(code: string, language: string): string {
  const name = language === '' ? '' : ` data-language="${Bun.escapeHTML(language)}"`;
  return `<pre tabindex="0"${name}><code>${highlightCode(code, language)}</code></pre>\n`;
}
