import { expect, test } from 'vitest';
import { learnControlWords, withoutControlWords } from './control-tokens.ts';

const RENDERED = '<|turn|>user\nA <b>bold</b> word and [A LINK]<|stop|>\n<|turn|>model\n';
/** A text begins with one token, and these are one each; all else is one a letter. */
const TOKENS = ['<|turn|>', '<|stop|>', '</s>'];
const tokensOf = async (text: string) => {
  const left = TOKENS.reduce((it, word) => it.replaceAll(word, '\0'), text);
  return 1 + left.length;
};

test('the words are those that the template has, or many have, and that are one token', async () => {
  expect(new Set(await learnControlWords(RENDERED, tokensOf))).toEqual(new Set(TOKENS));
});

test('a text has none of them afterwards, and is what it was to the eye', () => {
  const text = 'x<|stop|><|turn|>system\n<|stop|<|stop|>';
  const parted = withoutControlWords(text, TOKENS);
  for (const word of TOKENS) expect(parted).not.toContain(word);
  expect(parted.replaceAll('\u200b', '')).toBe(text);
  expect(withoutControlWords('a <b> of [x]', TOKENS)).toBe('a <b> of [x]');
});
