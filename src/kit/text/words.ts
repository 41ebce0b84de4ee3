/** Splits written text into words. */

/** White space at the start, a letter of a script without spaces with its opening brackets, or other letters up to white space. */
const PIECE =
  /^\s+|[\p{Ps}\p{Pi}]*[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]\s*|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])\S)+\s*/gu;

/**
 * The words of a text, each with the white space after it. Words without sound, such as a dash or an emoji, belong to the
 * preceding word, or at the start of the text to the following one. In Chinese and Japanese, which have no spaces, a word starts at
 * each letter that has sound by `hasSound`. Joined, the words are the text.
 * @param hasSound called for each word and for white space at the start, in order; `start` is the position in the text.
 */
export function splitWords(text: string, hasSound: (word: string, start: number) => boolean): string[] {
  const starts: number[] = [];
  for (const { 0: piece, index } of text.matchAll(PIECE)) {
    if (hasSound(piece, index)) starts.push(index);
  }
  if (starts.length === 0) return text === '' ? [] : [text];
  return starts.map((start, i) => text.slice(i === 0 ? 0 : start, starts[i + 1]));
}
