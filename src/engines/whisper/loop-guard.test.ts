import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compressionRatio, loopAtEnd, mostTokens } from './loop-guard.ts';

const times = (count: number, ...block: number[]) => Array.from({ length: count }, () => block).flat();
const range = (length: number, from = 100) => Array.from({ length }, (_, index) => from + index);

describe('a block at the end', () => {
  test.each([
    ['one token six times', [1, 2, ...times(6, 7)], { length: 1, times: 6 }],
    ['two tokens five times', [1, ...times(5, 7, 8)], { length: 2, times: 5 }],
    ['three tokens four times', times(4, 7, 8, 9), { length: 3, times: 4 }],
    ['a phrase three times', [1, ...times(3, ...range(7))], { length: 7, times: 3 }],
    ['a sentence twice', [1, 2, ...times(2, ...range(8))], { length: 8, times: 2 }],
    ['the longest sentence twice', times(2, ...range(64)), { length: 64, times: 2 }],
    ['a cut one before it does not count', [8, ...times(5, 7, 8)], { length: 2, times: 5 }],
    ['a token inside a block that repeats itself too', times(3, 1, 1, 2, 2), { length: 4, times: 3 }],
  ])('%s', (_, tokens, loop) => {
    expect(loopAtEnd(tokens)).toEqual(loop);
  });

  test.each([
    ['nothing', []],
    ['"no, no, no, no, no"', [1, ...times(5, 7)]],
    ['a phrase twice', times(2, ...range(7))],
    ['a sentence and most of it again', [...range(20), ...range(19)]],
    ['a loop that ended', [...times(9, 7), 1]],
    ['a longer block than any sentence', times(2, ...range(65))],
  ])('no loop: %s', (_, tokens) => {
    expect(loopAtEnd(tokens)).toBeUndefined();
  });

  test('what is found does stand there', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 2 }), { maxLength: 60 }), (tokens) => {
        const loop = loopAtEnd(tokens);
        if (loop === undefined) return;
        const block = tokens.slice(-loop.length);
        expect(tokens.slice(-loop.length * loop.times)).toEqual(times(loop.times, ...block));
      }),
    );
  });
});

test('tokens grow with the audio', () => {
  expect([0, -1, 1, 2.51].map(mostTokens)).toEqual([10, 10, 30, 61]);
});

describe('compression', () => {
  test('an ordinary sentence stays under 2.4, a repeated one does not', () => {
    const sentence = 'And so, my fellow Americans, ask not what your country can do for you. ';
    expect(compressionRatio(sentence)).toBeLessThan(1.2);
    expect(compressionRatio(sentence.repeat(8))).toBeGreaterThan(5);
  });

  test('counts bytes, not characters', () => {
    expect(compressionRatio('字'.repeat(100))).toBeGreaterThan(15);
    expect(compressionRatio('')).toBe(0);
  });
});
