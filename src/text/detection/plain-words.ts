/** The words of a text that tell its language. */

/** Addresses, code, numbers and the like: with a digit, a dot or a bracket inside, or a character that no word has. */
const NO_WORDS = /\S*(?:[@/\\_={}<>[\]|#]|\w\.\w|\w\(|\d|::)\S*/gu;
/** Quotations in the quotation marks of English, which are often in another language. */
const QUOTATION = /["“”][^"“”]*["“”]/gu;
/** Capitalized words within a sentence: names, in most languages. */
const NAME = /(?<=[\p{L}\p{M},;:'’)-]\s+|['’-])\p{Lu}[\p{L}\p{M}'’-]*/gu;
const BETWEEN_WORDS = /[^\p{L}\p{M}]+(?<!['`’])/gu;

/**
 * The words in lower case, without names, quotations, addresses, code and numbers. Names stay in a text in capitals. Words keep
 * their apostrophes.
 */
export function plainWords(text: string): string[] {
  const plain = text.replaceAll(NO_WORDS, ' ').replaceAll(QUOTATION, ' ');
  const unnamed = /\p{Ll}/u.test(plain) ? plain.replaceAll(NAME, ' ') : plain;
  const words = unnamed.replaceAll(BETWEEN_WORDS, ' ').trim().toLowerCase();
  return words === '' ? [] : words.split(' ');
}
