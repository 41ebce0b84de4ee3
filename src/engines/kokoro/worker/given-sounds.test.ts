import { expect, test } from 'vitest';
import { symbolsOfIpa } from '../shared/ipa.ts';
import { phonemesWithGiven } from './given-sounds.ts';

/** Each letter is its own phoneme; marks and spaces as written, without white space at the ends. */
const deps = {
  phonemize: async (text: string) => {
    const trimmed = text.trim();
    const from = text.indexOf(trimmed);
    const word = (index: number) => trimmed.lastIndexOf(' ', index) + 1 + from;
    const sources = [...trimmed].map((char, index) => (/[\s.,]/.test(char) ? undefined : word(index)));
    return { phonemes: trimmed, sources };
  },
  symbolsOf: (ipa: string) => ipa.toUpperCase().replace(/[^A-Z ]/g, ''),
};

test.each([
  ['a tomato.', [{ start: 2, end: 8, ipa: 'xy' }], 'a XY.', [0, undefined, 2, 2, undefined]],
  ['tomato', [{ start: 0, end: 6, ipa: 'x' }], 'X', [0]],
  ['tomato pie', [{ start: 0, end: 6, ipa: 'x' }], 'X pie', [0, undefined, 7, 7, 7]],
  ['tomato, pie', [{ start: 0, end: 6, ipa: 'x' }], 'X, pie', [0, undefined, undefined, 8, 8, 8]],
  ['a b c', [{ start: 2, end: 3, ipa: 'x' }], 'a X c', [0, undefined, 2, undefined, 4]],
  ['a b', [{ start: 2, end: 3, ipa: '1' }], 'a b', [0, undefined, 2]],
  [
    'one two',
    [
      { start: 0, end: 3, ipa: 'x y' },
      { start: 4, end: 7, ipa: 'z' },
    ],
    'X Y Z',
    [0, undefined, 0, undefined, 4],
  ],
])('%j with %j', async (text, given, phonemes, sources) => {
  expect(await phonemesWithGiven(text, given, deps)).toEqual({ phonemes, sources });
});

test.each([
  ['təˈmeɪtoʊ', 'en-US', 'təˈmAtO'],
  ['t͡ʃɛk', 'en-GB', 'ʧɛk'],
  ['ˈpaɪ.θɑn', 'en-US', 'ˈpIθɑn'],
  ['ˈpero', 'es', 'ˈpero'],
  ['go', 'es', 'ɡo'],
  ['☃', 'en-US', ''],
])('%s in %s is %s', (ipa, language, symbols) => {
  expect(symbolsOfIpa(ipa, language, { has: (symbol: string) => symbol !== '☃' })).toBe(symbols);
});
