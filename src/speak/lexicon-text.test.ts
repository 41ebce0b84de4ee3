import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { lexiconEntry } from '../../test/doubles/fake-lexicons.ts';
import type { GivenSounds, SpokenWord } from '../contract/engines/engine.ts';
import { LexiconMatcher } from './lexicon-matcher.ts';
import { readWithLexicon, type TextLanguage, WrittenWords } from './lexicon-text.ts';

const LEXICON = new LexiconMatcher({
  own: [
    lexiconEntry('Nguyen', { phonemes: 'wɪn' }),
    lexiconEntry('SQL', { respelling: 'sequel' }),
    lexiconEntry('New York', { respelling: 'N Y' }),
    lexiconEntry('Kim', { phonemes: 'kɪt', language: 'en' }),
    lexiconEntry('chat', { phonemes: 'ʃa', language: 'fr-CA' }),
    lexiconEntry('Ross', { phonemes: 'ɹɔs' }),
  ],
  shared: [],
});
const language =
  (spoken: string | undefined, known: Record<string, string> = {}) =>
  (): TextLanguage => ({
    spoken,
    find: (tag) => known[tag],
  });
const read = (text: string, spoken: string | undefined = 'en-US', given: GivenSounds[] = []) =>
  readWithLexicon(text, given, LEXICON, language(spoken));
/** The text for the engine with its sounds in braces. */
const shown = (...args: Parameters<typeof read>) => {
  const result = read(...args);
  if (result === undefined) return undefined;
  let [text, at] = ['', 0];
  for (const { start, end, ipa } of result.givenSounds) {
    text += `${result.text.slice(at, start)}{${result.text.slice(start, end)}|${ipa}}`;
    at = end;
  }
  return text + result.text.slice(at);
};

describe('readWithLexicon', () => {
  test.each([
    ['Ask Nguyen about SQL.', 'Ask {Nguyen|wɪn} about sequel.'],
    ['SQL, SQL and Nguyen!', 'sequel, sequel and {Nguyen|wɪn}!'],
    ["Nguyen's, Ross's, Kim’s, SQL's", "{Nguyen's|wɪnz}, {Ross's|ɹɔsɪz}, {Kim’s|kɪts}, sequel's"],
    ['from New  York', 'from N Y'],
  ])('%s', (text, expected) => {
    expect(shown(text)).toBe(expected);
  });

  it('leaves a text without words of the lexicon', () => {
    expect(read('Nothing here.')).toBeUndefined();
  });

  it('applies entries of a language only to texts of that language', () => {
    expect(shown('Kim', 'en-GB')).toBe('{Kim|kɪt}');
    expect(shown('Kim', 'fr')).toBeUndefined();
    expect(readWithLexicon('Kim', [], LEXICON, language(undefined))).toBeUndefined();
    expect(shown('Nguyen’s', 'de')).toBe('{Nguyen|wɪn}’s');
  });

  it('applies entries of a region that the engine does not distinguish', () => {
    const french = language('fr', { 'fr-CA': 'fr' });
    expect(readWithLexicon('chat', [], LEXICON, french)?.givenSounds).toHaveLength(1);
    expect(shown('chat', 'fr')).toBeUndefined();
  });

  it('keeps the sounds that the text has', () => {
    const given = [
      { start: 0, end: 6, ipa: 'x' },
      { start: 11, end: 17, ipa: 'y' },
    ];
    expect(shown('Nguyen SQL Nguyen Nguyen', 'en', given)).toBe('{Nguyen|x} sequel {Nguyen|y} {Nguyen|wɪn}');
    expect(shown('New York SQL', 'en', [{ start: 4, end: 8, ipa: 'x' }])).toBe('New {York|x} sequel');
    expect(shown('a New York', 'en', [{ start: 0, end: 1, ipa: 'x' }])).toBe('{a|x} N Y');
  });
});

/** Words of the text for the engine, 10 ms each. */
function wordsOf(text: string): SpokenWord[] {
  return (text.match(/^\s*\S+\s*|\S+\s*/g) ?? []).map((word, index) => ({
    text: word,
    startMs: 10 * index,
    endMs: 10 * index + 10,
  }));
}

/** Reports the words in calls of the given sizes. */
function writtenWords(text: string, calls: readonly number[] = []): SpokenWord[] {
  const { text: spoken, replacements } = read(text) ?? { text, replacements: [] };
  const reported: SpokenWord[] = [];
  const written = new WrittenWords(text, replacements, (words) => reported.push(...words));
  const words = wordsOf(spoken);
  for (const size of calls) written.add(words.splice(0, size), 0);
  written.add(words, 0);
  written.end();
  return reported;
}

describe('WrittenWords', () => {
  it('reports the written words with the times of what is spoken', () => {
    expect(writtenWords('Use SQL, in New York now.')).toEqual([
      { text: 'Use ', startMs: 0, endMs: 10 },
      { text: 'SQL, ', startMs: 10, endMs: 20 },
      { text: 'in ', startMs: 20, endMs: 30 },
      { text: 'New York ', startMs: 30, endMs: 50 },
      { text: 'now.', startMs: 50, endMs: 60 },
    ]);
  });

  it('reports the rest of a text whose last words have no sound', () => {
    const reported: SpokenWord[] = [];
    const written = new WrittenWords(
      'SQL is. -',
      [{ start: 0, end: 3, spokenStart: 0, spokenEnd: 6 }],
      (words) => reported.push(...words),
    );
    written.add([{ text: 'sequel is. ', startMs: 0, endMs: 9 }], 5);
    written.end();
    expect(reported).toEqual([
      { text: 'SQL is. ', startMs: 5, endMs: 14 },
      { text: '-', startMs: 14, endMs: 14 },
    ]);
  });

  it('reports nothing for an engine without times', () => {
    const reported: unknown[] = [];
    new WrittenWords('SQL', [], (words) => reported.push(words)).end();
    expect(reported).toEqual([]);
  });

  it('reports words that together are the text, in order of time', () => {
    const words = fc.constantFrom('SQL', 'New York', 'Nguyen', 'a', 'SQL,', '.', "SQL's");
    const spaces = fc.constantFrom(' ', '  ', '\n');
    const texts = fc.array(fc.tuple(words, spaces), { minLength: 1 }).map((parts) => parts.flat().join(''));
    fc.assert(
      fc.property(texts, fc.array(fc.nat(3)), (text, calls) => {
        const reported = writtenWords(text, calls);
        expect(reported.map((word) => word.text).join('')).toBe(text);
        const times = reported.flatMap(({ startMs, endMs }) => [startMs, endMs]);
        expect(times).toEqual(times.toSorted((a, b) => a - b));
      }),
    );
  });
});
