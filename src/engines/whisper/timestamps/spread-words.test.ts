import { describe, expect, test } from 'vitest';
import { smallTokenizer } from '../../../../test/generators/small-tokenizer.ts';
import { spreadWords } from './spread-words.ts';

const tokenizer = smallTokenizer();
const segment = (startS: number, endS: number, text: string) => ({
  startS,
  endS,
  tokens: tokenizer.encode(text),
});

describe('estimated word times', () => {
  test('are proportional to the word lengths including punctuation', () => {
    expect(spreadWords(tokenizer, [segment(1, 3, ' Now, tell (her)...')], 'en')).toEqual([
      { word: 'Now,', startS: 1, endS: 1.5 },
      { word: 'tell', startS: 1.5, endS: 2 },
      { word: '(her)...', startS: 2, endS: 3 },
    ]);
  });

  test('are computed per segment', () => {
    const words = spreadWords(
      tokenizer,
      [segment(0, 1, ' a b'), segment(2.5, 2.5, ' c d'), segment(4, 5, ' e')],
      'en',
    );
    expect(words.map(({ word, startS, endS }) => [word, startS, endS])).toEqual([
      ['a', 0, 0.5],
      ['b', 0.5, 1],
      ['c', 2.5, 2.5],
      ['d', 2.5, 2.5],
      ['e', 4, 5],
    ]);
  });

  test('are per character in a language without spaces', () => {
    const words = spreadWords(tokenizer, [segment(0, 2, '你好。')], 'zh');
    expect(words.map(({ word }) => word)).toEqual(['你', '好。']);
  });

  test('are rounded to 0.01 s and within the segment', () => {
    const words = spreadWords(tokenizer, [segment(0.333, 1.001, ' one three five')], 'en');
    expect(words[0]?.startS).toBe(0.333);
    expect(words.at(-1)?.endS).toBe(1);
    for (const [i, { startS, endS }] of words.entries()) {
      expect(endS).toBeGreaterThan(startS);
      if (i > 0) expect(startS).toBe(words[i - 1]?.endS);
      if (i > 0) expect(startS).toBe(Math.round(startS * 100) / 100);
    }
  });

  test('are empty for a segment without text', () => {
    expect(spreadWords(tokenizer, [], 'en')).toEqual([]);
    expect(spreadWords(tokenizer, [segment(0, 1, ' ')], 'en')).toEqual([]);
  });
});
