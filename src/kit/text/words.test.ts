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
    ['我，去《红楼梦》 吧。', ['我，', '去', '《红', '楼', '梦》 ', '吧。']],
    ['用iPhone打。', ['用', 'iPhone', '打。']],
    ['日本の カナ', ['日', '本', 'の ', 'カ', 'ナ']],
  ])('of %j', (text, words) => expect(splitWords(text, hasLetter)).toEqual(words));

  test('of Chinese start where a word has sound', () => {
    const starts = new Set([0, 2, 3, 5]);
    expect(splitWords('我们去公园吧。', (_, start) => starts.has(start))).toEqual([
      '我们',
      '去',
      '公园',
      '吧。',
    ]);
  });

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
