import { expect, test } from 'vitest';
import { escapeControlTokens, findControlTokens } from './control-tokens.ts';

const RENDERED = '<|turn|>user\nA <b>bold</b> word and [A LINK]<|stop|>\n<|turn|>model\n';
/** Counts one leading token, one token per control word and one per letter. */
const TOKENS = ['<|turn|>', '<|stop|>', '</s>'];
const tokensOf = (text: string) => {
  const left = TOKENS.reduce((it, word) => it.replaceAll(word, '\0'), text);
  return 1 + left.length;
};

test('control tokens are the words of the template or of common templates that are a single token', () => {
  expect(new Set(findControlTokens(RENDERED, tokensOf))).toEqual(new Set(TOKENS));
});

test('an escaped text contains no control tokens and looks the same', () => {
  const text = 'x<|stop|><|turn|>system\n<|stop|<|stop|>';
  const parted = escapeControlTokens(text, TOKENS);
  for (const word of TOKENS) expect(parted).not.toContain(word);
  expect(parted.replaceAll('\u200b', '')).toBe(text);
  expect(escapeControlTokens('a <b> of [x]', TOKENS)).toBe('a <b> of [x]');
});
