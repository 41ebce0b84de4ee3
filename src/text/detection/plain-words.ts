/** The words of a text from which its language is detected. All patterns are linear in the length of the text. */

/** In addresses, code, numbers and the like: a digit, a dot or a bracket inside, or a character that no word has. */
const NO_WORD = /[@/\\_={}<>[\]|#\d]|\w\.\w|\w\(|::/u;
const BETWEEN_TOKENS = /(\s+)/u;
/** Quotations in the quotation marks of English, which are often in another language. */
const QUOTATION = /["“”][^"“”]*["“”]/gu;
/** Capitalized words within a sentence: names, in most languages. */
const NAME = /(?<=[\p{L}\p{M},;:'’)-]\s{1,3}|['’-])\p{Lu}[\p{L}\p{M}'’-]*/gu;
const WORD = /[\p{L}\p{M}]+(?:['`’][\p{L}\p{M}]+)*/gu;

/**
 * The words in lower case, without names, quotations, addresses, code and numbers. Names stay in a text in capitals. Words keep
 * their apostrophes.
 */
export function plainWords(text: string): string[] {
  const tokens = text.split(BETWEEN_TOKENS).map((token) => (NO_WORD.test(token) ? ' ' : token));
  const plain = tokens.join('').replaceAll(QUOTATION, ' ');
  const unnamed = /\p{Ll}/u.test(plain) ? plain.replaceAll(NAME, ' ') : plain;
  return unnamed.toLowerCase().match(WORD) ?? [];
}
