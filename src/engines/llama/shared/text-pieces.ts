/**
 * Pieces of a text that a tokenizer with byte-pair encoding converts to the same tokens as the whole text, if none of its tokens
 * contains a letter before a space: no merge crosses such a place, and its pre-tokenizer separates words there.
 */

const SPACE = 0x20;
const LETTER_BEFORE_SPACE = /[A-Za-z] /;

/** Whether a vocabulary permits pieces. @param texts the text of each token. */
export function permitsPieces(texts: Iterable<string>): boolean {
  for (const text of texts) if (LETTER_BEFORE_SPACE.test(text)) return false;
  return true;
}

/**
 * Cuts a text before single spaces between ASCII letters.
 * @param maxLength of a piece in UTF-16 code units. A piece is longer if it has no such space.
 */
export function* textPieces(text: string, maxLength: number): Generator<string, void, undefined> {
  let start = 0;
  while (text.length - start > maxLength) {
    const end = lastCut(text, start + 1, start + maxLength) ?? firstCut(text, start + maxLength + 1);
    if (end === undefined) break;
    yield text.slice(start, end);
    start = end;
  }
  if (start < text.length) yield text.slice(start);
}

/** The last place to cut in a range, both ends included. */
function lastCut(text: string, from: number, to: number): number | undefined {
  for (let at = to; at >= from; at -= 1) if (isCut(text, at)) return at;
  return undefined;
}

function firstCut(text: string, from: number): number | undefined {
  for (let at = from; at < text.length; at += 1) if (isCut(text, at)) return at;
  return undefined;
}

function isCut(text: string, at: number): boolean {
  return (
    text.charCodeAt(at) === SPACE && isLetter(text.charCodeAt(at - 1)) && isLetter(text.charCodeAt(at + 1))
  );
}

function isLetter(code: number): boolean {
  const lowerCase = code | 0x20;
  return lowerCase >= 0x61 && lowerCase <= 0x7a;
}
