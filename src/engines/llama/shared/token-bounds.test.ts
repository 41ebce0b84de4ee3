import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { minTokens, NO_TOKEN_BOUNDS, tokenBounds } from './token-bounds.ts';

describe('the bounds of a vocabulary', () => {
  it('are the most bytes of one token, in all, of white space, and of other characters', () => {
    expect(tokenBounds(['a', '\n   ', ' hello', 'ü'])).toEqual({ bytes: 6, spaceBytes: 4, wordBytes: 5 });
  });

  it('are at least one byte', () => {
    expect(tokenBounds([''])).toEqual({ bytes: 1, spaceBytes: 1, wordBytes: 1 });
  });
});

describe('the minimum number of tokens', () => {
  const bounds = { bytes: 6, spaceBytes: 4, wordBytes: 5 };

  it.each([
    ['nothing', [], 0],
    ['white space', ['\t'.repeat(41)], 11],
    ['letters', ['a'.repeat(41)], 9],
    ['both in equal shares', ['a '.repeat(41)], 14],
    ['several texts', ['aaaaa', 'aaaaa', 'a'], 3],
    ['characters of several bytes', ['日本語'], 2],
  ])('of %s', (_, texts, expected) => {
    expect(minTokens(texts, bounds)).toBe(expected);
  });

  it('without bounds is zero', () => {
    expect(minTokens(['a'.repeat(1000)], NO_TOKEN_BOUNDS)).toBe(0);
  });

  it('is not above the tokens of any division into tokens of the vocabulary', () => {
    const token = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(fc.array(token, { minLength: 1, maxLength: 50 }), (tokens) => {
        expect(minTokens([tokens.join('')], tokenBounds(tokens))).toBeLessThanOrEqual(tokens.length);
      }),
    );
  });
});
