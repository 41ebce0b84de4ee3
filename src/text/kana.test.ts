import { expect, test } from 'vitest';
import { hiraganaOf, symbolsOfKana } from './kana.ts';

/** Words and their symbols in misaki 0.9.4. */
const CASES: readonly (readonly [kana: string, symbols: string])[] = [
  ['トーキョー', 'toːkʲoː'],
  ['ワタシ', 'βataɕi'],
  ['ガッコー', 'ɡaʔkoː'],
  ['チョット', 'ʨoʔto'],
  ['センパイ', 'sempai'],
  ['テンキ', 'teŋkʲi'],
  ['コンニチワ', 'koɲɲiʨiβa'],
  ['オンナ', 'onna'],
  ['ホン', 'hoɴ'],
  ['コンヤ', 'koɴja'],
  ['ニュース', 'ɲɨːsɨ'],
  ['ファミリー', 'ɸamʲiɾʲiː'],
  ['ヴァイオリン', 'vaioɾʲiɴ'],
  ['ティーシャツ', 'tʲiːɕaʦɨ'],
  ['フュージョン', 'ɸʲɨːʥoɴ'],
  ['ミスヾ', 'mʲisɨzɨ'],
  ['こゝろ', 'kokoɾo'],
  ['ムㇰ', 'mɯkɯ'],
  ['abc', ''],
];

test.each(CASES)('%s is %s', (kana, symbols) => expect(symbolsOfKana(kana)).toBe(symbols));

test('katakana is hiragana', () => expect(hiraganaOf('カタカナとヴー')).toBe('かたかなとゔー'));
