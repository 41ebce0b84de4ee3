/** Maximum nesting depth of lists and objects. A JSON Schema uses two levels per level of its data. */
export const MAX_JSON_LEVELS = 100;
/**
 * Maximum number of lists, objects and fields. Parsing takes up to 1 µs for each, which blocks other
 * requests.
 */
export const MAX_JSON_PARTS = 50_000;
/**
 * Maximum number of commas, which approximates the number of values. The parser reads fifty numbers or
 * strings per µs.
 */
export const MAX_JSON_VALUES = 1_000_000;

/** Longer strings are scanned with `indexOf`, which has a fixed start-up cost. */
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
 * Checks JSON text against the limits before it is parsed, because parsing blocks other requests. Scans only
 * the bytes, about one million per 1–2 ms; invalid JSON is left to the parser.
 * @returns the violated limit as the end of a sentence; undefined if there is none.
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
          return `may have at most ${MAX_JSON_LEVELS} nested lists and objects`;
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

/**
 * @param start offset of the opening quote.
 * @returns the offset of the closing quote, or the end of the bytes.
 */
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
