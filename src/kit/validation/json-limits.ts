/** Lists and objects within one another: schemas have two for each of their levels. */
export const MAX_JSON_LEVELS = 100;
/** Lists, objects and fields together. The parser takes up to a microsecond for each, whoever else is served. */
export const MAX_JSON_PARTS = 50_000;
/** Commas, which are about the values: of numbers and strings the parser reads fifty in a microsecond. */
export const MAX_JSON_VALUES = 1_000_000;

/** Strings of more bytes are searched for their end, which costs something to begin. */
const SHORT_BYTES = 64;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const LIST = 0x5b;
const LIST_END = 0x5d;
const OBJECT = 0x7b;
const OBJECT_END = 0x7d;

/**
 * What JSON text has too much of to be parsed while others wait, as the end of a sentence; undefined when nothing.
 * Looks at the bytes alone, a million in a millisecond or two: what is no JSON passes or not, and is the parser's matter.
 */
export function jsonLimitViolation(bytes: Uint8Array): string | undefined {
  let levels = 0;
  let parts = 0;
  let values = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    switch (bytes[at]) {
      case QUOTE:
        at = endOfString(bytes, at);
        break;
      case COMMA:
        values += 1;
        if (values > MAX_JSON_VALUES) return `may have at most ${MAX_JSON_VALUES} values`;
        break;
      case COLON:
        parts += 1;
        break;
      case LIST:
      case OBJECT:
        parts += 1;
        levels += 1;
        if (levels > MAX_JSON_LEVELS) {
          return `may have at most ${MAX_JSON_LEVELS} lists and objects within one another`;
        }
        break;
      case LIST_END:
      case OBJECT_END:
        levels -= 1;
        break;
      default:
    }
    if (parts > MAX_JSON_PARTS) return `may have at most ${MAX_JSON_PARTS} lists, objects and fields`;
  }
  return undefined;
}

/** @param start of the quote that begins it. @returns the place of the one that ends it, or the end of the bytes. */
function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  for (;;) {
    for (const near = at + SHORT_BYTES; at < near; at += bytes[at] === BACKSLASH ? 2 : 1) {
      if (at >= bytes.length || bytes[at] === QUOTE) return at;
    }
    const quote = bytes.indexOf(QUOTE, at);
    if (quote === -1) return bytes.length;
    let first = quote;
    while (first > at && bytes[first - 1] === BACKSLASH) first -= 1;
    const isEscaped = (quote - first) % 2 === 1;
    if (!isEscaped) return quote;
    at = quote + 1;
  }
}
