import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { lexiconEntry } from '../../test/doubles/fake-lexicons.ts';
import type { LexiconEntry } from '../contract/stores/lexicon-store.ts';
import { includesLanguage, LexiconMatcher, matcherOf } from './lexicon-matcher.ts';

const entry = (word: string, respelling = 'x', language?: string) =>
  lexiconEntry(word, { respelling, language });
const matcher = (...own: LexiconEntry[]) => new LexiconMatcher({ own, shared: [] });
const never = () => false;
const found = (words: readonly string[], text: string) =>
  matcher(...words.map((word) => entry(word)))
    .find(text, never)
    .map(({ start, end }) => text.slice(start, end));

describe('LexiconMatcher', () => {
  test.each<[string[], string, string[]]>([
    [['nguyen'], 'Nguyen, NGUYEN and (nguyen).', ['Nguyen', 'NGUYEN', 'nguyen']],
    [['Nguyen'], 'nguyens nguyenx Nguyen', ['Nguyen']],
    [['SQL'], 'SQL sql Sql MySQL SQL-92', ['SQL', 'SQL']],
    [['New York'], 'New  York, new\nyork, NewYork, New-York', ['New  York', 'new\nyork']],
    [
      ['York', 'New York', 'New York City'],
      'New York, York, New York City',
      ['New York', 'York', 'New York City'],
    ],
    [['C', 'C++'], 'C++ and C, C + +', ['C++', 'C', 'C']],
    [['AT&T'], 'AT&T, at&t', ['AT&T']],
    [['.NET'], '.NET', ['.NET']],
    [['can', 't'], "can't, can’t, can", ['can']],
    [['Nguyen'], "Nguyen's and Nguyen’s, Nguyen'd", ['Nguyen', 'Nguyen']],
    [['Oréal'], "l'Oréal, L’Oréal, qu'Oréal", ['Oréal', 'Oréal', 'Oréal']],
    [['roll'], "rock'n'roll", []],
    [['example', 'com', 'b'], 'example.com a@b b_com com. example', ['com', 'example']],
    [['Nguyen'], 'Nguyen-Smith/Nguyen', ['Nguyen', 'Nguyen']],
    [['km'], '5km 5 km', ['km']],
    [['東京'], '私は東京に行く。', ['東京']],
    [['アイ'], 'アイスとアイ', ['アイ']],
    [['café'], 'cafe\u0301', ['cafe\u0301']],
    [["o'clock"], 'o’clock', ['o’clock']],
    [['x'], '', []],
  ])('%j in %j', (words, text, expected) => {
    expect(found(words, text)).toEqual(expected);
  });

  it('includes the possessive ending', () => {
    const [match] = matcher(entry('Nguyen')).find('Nguyen’s car', never);
    expect(match).toMatchObject({ start: 0, end: 6, possessiveEnd: 8 });
  });

  it('prefers the organization, then the own case, then the more specific language', () => {
    const first = (lexicon: LexiconMatcher, text = 'SQL') =>
      lexicon.find(text, () => true)[0]?.entry.respelling;
    const shared = [entry('SQL', 'shared', 'en-US')];
    expect(first(new LexiconMatcher({ own: [entry('sql', 'own')], shared }))).toBe('own');
    expect(first(new LexiconMatcher({ own: [], shared }))).toBe('shared');
    expect(first(matcher(entry('sql', 'any', 'en'), entry('SQL', 'exact')))).toBe('exact');
    expect(first(matcher(entry('sql', 'any', 'en'), entry('SQL', 'exact')), 'Sql')).toBe('any');
    const languages = [entry('a', 'all'), entry('a', 'en', 'en'), entry('a', 'en-GB', 'en-GB')];
    expect(first(matcher(...languages), 'a')).toBe('en-GB');
  });

  it('falls back to entries whose language applies, and to shorter phrases', () => {
    const lexicon = matcher(entry('a b', 'long', 'fr'), entry('a', 'short'), entry('a', 'french', 'fr'));
    expect(lexicon.find('a b', never)).toMatchObject([{ end: 1, entry: { respelling: 'short' } }]);
    expect(lexicon.find('a b', () => true)).toMatchObject([{ end: 3, entry: { respelling: 'long' } }]);
  });

  it('finds only words of the lexicon, in order, without overlaps', () => {
    const words = ['ab', 'a b', 'b', "a's", '東', 'B.b'];
    const texts = fc.string({ unit: fc.constantFrom('a', 'b', 'B', ' ', "'", '.', 's', '東', '-') });
    const lexicon = matcher(...words.map((word) => entry(word)));
    fc.assert(
      fc.property(texts, (text) => {
        let at = 0;
        for (const { start, end, possessiveEnd, entry: match } of lexicon.find(text, never)) {
          expect(start).toBeGreaterThanOrEqual(at);
          expect(possessiveEnd).toBeGreaterThanOrEqual(end);
          const written = text.slice(start, end).replace(/\s+/g, ' ');
          expect(written.toLowerCase()).toBe(match.word.toLowerCase());
          at = end;
        }
      }),
    );
  });
});

test('a lexicon is compiled once; an empty one has no matcher', () => {
  const lexicon = { own: [entry('a')], shared: [] };
  expect(matcherOf(lexicon)).toBe(matcherOf(lexicon));
  expect(matcherOf({ own: [], shared: [] })).toBeUndefined();
});

test.each([
  ['en', 'en-GB', true],
  ['en', 'EN', true],
  ['pt-BR', 'pt_br', true],
  ['en-GB', 'en', false],
  ['en', 'eng', false],
  ['en-US', 'en-GB', false],
])('%s includes %s: %j', (language, spoken, expected) => {
  expect(includesLanguage(language, spoken)).toBe(expected);
});
