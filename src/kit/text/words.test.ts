import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { splitWords } from './words.ts';

const hasLetter = (word: string) => /\p{L}/u.test(word);

describe('words', () => {
  test.each([
    ['One, two.', ['One, ', 'two.']],
    ['  one\n two  ', ['  one\n ', 'two  ']],
    ['yes — no 🙂', ['yes — ', 'no 🙂']],
    ['— “yes” no', ['— “yes” ', 'no']],
    ['...', ['...']],
    [' ', [' ']],
    ['', []],
  ])('of %j', (text, words) => expect(splitWords(text, hasLetter)).toEqual(words));

  test('join to the text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const words = splitWords(text, hasLetter);
        expect(words.join('')).toBe(text);
        expect(words.length < 2 || words.every(hasLetter)).toBe(true);
      }),
    );
  });
});
