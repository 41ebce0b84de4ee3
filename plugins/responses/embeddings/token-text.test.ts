import { Tiktoken } from 'js-tiktoken/lite';
import cl100k from 'js-tiktoken/ranks/cl100k_base';
import { describe, expect, it } from 'vitest';
import { withTexts } from './token-text.ts';

const TEXTS = [
  'The cat sat on the mat.',
  'Ça coûte 20,50 € – vraiment?',
  '你好,世界。👋🏽 مرحبا',
  ' \n\n\t leading and trailing ',
];

describe('token ids of cl100k_base', () => {
  it('become the text that a client encoded', async () => {
    expect(await withTexts([[791, 8415, 7731, 389, 279, 5634, 13]])).toEqual(['The cat sat on the mat.']);
    const encoding = new Tiktoken(cl100k);
    expect(await withTexts(TEXTS.map((text) => encoding.encode(text)))).toEqual(TEXTS);
  });

  it('can be those of a part of a character', async () => {
    const [first = 0] = new Tiktoken(cl100k).encode('👋🏽');
    expect(await withTexts([[first]])).toEqual(['\uFFFD']);
  });

  it.each([
    [[[791, 100_256]], 'input', '100256'],
    [[[791], [8415, 4_000_000]], 'input.1', '4000000'],
    // A control token.
    [[[100_257]], 'input', '100257'],
  ])('are rejected if they are unknown: %j', async (inputs, param, id) => {
    await expect(withTexts(inputs)).rejects.toMatchObject({
      kind: 'invalid_request',
      param,
      message: expect.stringMatching(`'${param}' contains ${id}, .* token_ids = "model"`),
    });
  });
});
