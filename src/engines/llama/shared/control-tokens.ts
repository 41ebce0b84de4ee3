/**
 * Control tokens of a chat template, such as markers of roles and message ends. In the text of a message, they would allow
 * prompt injection under another role, so they are escaped.
 */

/** Candidates: the control tokens of common templates, and all words of a template that look like one. */
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
/** Invisible, and not part of any control token. */
const ZERO_WIDTH_SPACE = '\u200b';

/**
 * Finds the words that are single tokens.
 * @param rendered a conversation rendered with the template of the model.
 * @param tokensOf counts the tokens of a text.
 */
export function findControlTokens(rendered: string, tokensOf: (text: string) => number): readonly string[] {
  // Some models add a token to the start of every text.
  const always = tokensOf('');
  const words: string[] = [];
  for (const word of new Set([...COMMON, ...(rendered.match(LOOKS_LIKE_ONE) ?? [])])) {
    if (tokensOf(word) - always === 1) words.push(word);
  }
  return words;
}

/** Escapes control tokens with an invisible character after their first character. */
export function escapeControlTokens(text: string, words: readonly string[]): string {
  return words.reduce(
    (left, word) => left.replaceAll(word, `${word[0]}${ZERO_WIDTH_SPACE}${word.slice(1)}`),
    text,
  );
}
