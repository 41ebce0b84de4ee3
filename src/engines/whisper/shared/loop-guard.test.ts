import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compressionRatio, endsInLoop, maxSpeechTokens, repeatedAtEnd } from './loop-guard.ts';

const times = (count: number, ...block: number[]) => Array.from({ length: count }, () => block).flat();
const range = (length: number, from = 100) => Array.from({ length }, (_, index) => from + index);

describe('a repeated block at the end', () => {
  test.each([
    ['one token six times', [1, 2, ...times(6, 7)]],
    ['two tokens five times', [1, ...times(5, 7, 8)]],
    ['three tokens four times', times(4, 7, 8, 9)],
    ['a phrase three times', [1, ...times(3, ...range(7))]],
    ['a sentence twice', [1, 2, ...times(2, ...range(8))]],
    ['the longest sentence twice', times(2, ...range(64))],
    ['an incomplete block before it', [8, ...times(5, 7, 8)]],
    ['a block that contains a repeated token', times(3, 1, 1, 2, 2)],
  ])('%s', (_, tokens) => {
    expect(endsInLoop(tokens)).toBe(true);
  });

  test.each([
    ['nothing', []],
    ['"no, no, no, no, no"', [1, ...times(5, 7)]],
    ['a phrase twice', times(2, ...range(7))],
    ['a sentence and most of it again', [...range(20), ...range(19)]],
    ['a loop before the end', [...times(9, 7), 1]],
    ['a longer block than any sentence', times(2, ...range(65))],
  ])('not a loop: %s', (_, tokens) => {
    expect(endsInLoop(tokens)).toBe(false);
  });

  test('repeatedAtEnd counts the repeated tokens of a loop', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 2 }), { maxLength: 60 }), (tokens) => {
        const repeated = repeatedAtEnd(tokens);
        if (endsInLoop(tokens)) expect(repeated).toBeGreaterThanOrEqual(5);
        const blocks = range(64, 1).filter((length) =>
          tokens
            .slice(tokens.length - repeated)
            .every((token, i) => tokens[tokens.length - repeated - length + i] === token),
        );
        expect(repeated === 0 || blocks.length > 0).toBe(true);
      }),
    );
  });
});

test('token limits are proportional to the duration', () => {
  expect([0, -1, 1, 2.51].map(maxSpeechTokens)).toEqual([10, 10, 30, 61]);
});

describe('compression', () => {
  test('is below 2.4 for an ordinary sentence and above for a repeated one', () => {
    const sentence = 'And so, my fellow Americans, ask not what your country can do for you. ';
    expect(compressionRatio(sentence)).toBeLessThan(1.2);
    expect(compressionRatio(sentence.repeat(8))).toBeGreaterThan(5);
  });

  test('counts bytes, not characters', () => {
    expect(compressionRatio('字'.repeat(100))).toBeGreaterThan(15);
    expect(compressionRatio('')).toBe(0);
  });
});
