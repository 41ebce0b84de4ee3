/**
 * Words that a model reads as one token of its chat template: who speaks now, where a message ends. In a message they
 * would let its writer speak for somebody else, so they are taken apart there.
 */

/** What may be such a word: those of common templates, and whatever in a template looks like one. */
const COMMON = [
  '<|im_start|>',
  '<|im_end|>',
  '<|endoftext|>',
  '<|eot_id|>',
  '<s>',
  '</s>',
  '[INST]',
  '[/INST]',
];
const LOOKS_LIKE_ONE = /<[^<>\s]{1,40}>|\[\/?[A-Z_]{2,24}\]/g;
/** Nobody sees it, and no control word has it. */
const ZERO_WIDTH_SPACE = '\u200b';

/**
 * The words that are tokens of their own.
 * @param rendered a conversation as the model's template writes it.
 * @param tokensOf how many tokens a text has.
 */
export async function learnControlWords(
  rendered: string,
  tokensOf: (text: string) => Promise<number>,
): Promise<readonly string[]> {
  // Some models begin every text with a token.
  const always = await tokensOf('');
  const words: string[] = [];
  for (const word of new Set([...COMMON, ...(rendered.match(LOOKS_LIKE_ONE) ?? [])])) {
    if ((await tokensOf(word)) - always === 1) words.push(word);
  }
  return words;
}

/** The text without any of the words: each gets a character that is not seen behind its first. */
export function withoutControlWords(text: string, words: readonly string[]): string {
  return words.reduce(
    (left, word) => left.replaceAll(word, `${word[0]}${ZERO_WIDTH_SPACE}${word.slice(1)}`),
    text,
  );
}
