import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { permitsPieces, textPieces } from './text-pieces.ts';

describe('textPieces', () => {
  it.each([
    ['one two three', 5, ['one', ' two', ' three']],
    ['one two three', 7, ['one two', ' three']],
    ['one two three', 13, ['one two three']],
    ['one  two 3 four, five', 4, ['one  two 3 four, five']],
    ['unbreakable word and more', 4, ['unbreakable', ' word', ' and', ' more']],
    ['<|im start|>é é b c', 3, ['<|im', ' start|>é é b', ' c']],
    ['漢字漢字漢字', 2, ['漢字漢字漢字']],
    ['', 2, []],
  ])('%j in pieces of %d', (text, maxLength, pieces) => {
    expect([...textPieces(text, maxLength)]).toEqual(pieces);
  });

  it('joins to the text, and cuts only between words', () => {
    const texts = fc.string({ unit: fc.constantFrom('a', 'B', ' ', '\n', '1', '.', 'é', '漢') });
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 8 }), (text, maxLength) => {
        const pieces = [...textPieces(text, maxLength)];
        expect(pieces.join('')).toBe(text);
        for (const piece of pieces.slice(1)) expect(piece).toMatch(/^ [A-Za-z]/);
        for (const piece of pieces.slice(0, -1)) expect(piece).toMatch(/[A-Za-z]$/);
      }),
    );
  });
});

describe('permitsPieces', () => {
  it('is true unless a token has a letter before a space', () => {
    expect(permitsPieces([' the', '  ', '. ', '<|im_start|>'])).toBe(true);
    expect(permitsPieces([' the', 'of the'])).toBe(false);
    expect(permitsPieces([' the', 'a '])).toBe(false);
  });
});
