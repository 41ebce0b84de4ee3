import { describe, expect, it, test } from 'vitest';
import { checkedEntry, checkedKey, keepsCase, lexiconKey, type WrittenEntry } from './lexicon-entry.ts';

const problemOf = (written: WrittenEntry) => {
  const { problem } = checkedEntry(written);
  return problem && [problem.field, problem.code];
};

describe('checkedEntry', () => {
  it('normalizes the word, the language and the reading', () => {
    expect(
      checkedEntry({ word: ' New\n York’s ', language: 'EN_us', phonemes: ' /nuː  jɔːk/ ' }).entry,
    ).toEqual({ word: "New York's", language: 'en-US', phonemes: 'nuː jɔːk', respelling: undefined });
    expect(checkedEntry({ word: 'cafe\u0301', phonemes: '[ka.ˈfe]' }).entry).toMatchObject({
      word: 'café',
      phonemes: 'ka.ˈfe',
    });
    expect(checkedEntry({ word: 'C++', respelling: 'C  plus plus 2' }).entry).toEqual({
      word: 'C++',
      language: undefined,
      phonemes: undefined,
      respelling: 'C plus plus 2',
    });
  });

  test.each<[string, WrittenEntry, [string, string]]>([
    ['no word', { phonemes: 'a' }, ['word', 'missing_required_parameter']],
    ['a blank word', { word: ' \n', phonemes: 'a' }, ['word', 'missing_required_parameter']],
    ['a word without letters', { word: '+!', phonemes: 'a' }, ['word', 'invalid_value']],
    ['a control character', { word: 'a\u0000b', phonemes: 'a' }, ['word', 'invalid_value']],
    ['a lone surrogate', { word: 'a\ud800', phonemes: 'a' }, ['word', 'invalid_value']],
    ['a long word', { word: 'a'.repeat(101), phonemes: 'a' }, ['word', 'string_above_max_length']],
    ['an unknown language', { word: 'a', language: 'xx', phonemes: 'a' }, ['language', 'invalid_value']],
    [
      'a name of a language',
      { word: 'a', language: 'English', phonemes: 'a' },
      ['language', 'invalid_value'],
    ],
    ['an ill-formed tag', { word: 'a', language: 'en-a', phonemes: 'a' }, ['language', 'invalid_value']],
    ['no reading', { word: 'a' }, ['phonemes', 'missing_required_parameter']],
    ['a blank reading', { word: 'a', respelling: ' ' }, ['phonemes', 'missing_required_parameter']],
    [
      'two readings',
      { word: 'a', phonemes: 'a', respelling: 'a' },
      ['respelling', 'mutually_exclusive_parameters'],
    ],
    ['another notation', { word: 'a', phonemes: 'W IH1 N' }, ['phonemes', 'invalid_value']],
    ['phonemes without sound', { word: 'a', phonemes: "'." }, ['phonemes', 'invalid_value']],
    [
      'a respelling that is long for its word',
      { word: 'a', respelling: 'a'.repeat(31) },
      ['respelling', 'string_above_max_length'],
    ],
    [
      'long phonemes',
      { word: 'a'.repeat(30), phonemes: 'a'.repeat(201) },
      ['phonemes', 'string_above_max_length'],
    ],
    [
      'a long respelling',
      { word: 'a'.repeat(30), respelling: 'a'.repeat(201) },
      ['respelling', 'string_above_max_length'],
    ],
  ])('refuses %s', (_, written, expected) => {
    expect(problemOf(written)).toEqual(expected);
  });

  it('counts Unicode characters', () => {
    expect(problemOf({ word: '𞤀'.repeat(100), phonemes: 'a' })).toBeUndefined();
    expect(problemOf({ word: 'AI', respelling: 'artificial intelligence' })).toBeUndefined();
  });
});

test('a key needs no reading', () => {
  expect(checkedKey({ word: 'a', language: 'pt-br' }).entry).toEqual({ word: 'a', language: 'pt-BR' });
});

test.each([
  ['SQL', true],
  ['iPhone', true],
  ['McDonald', true],
  ['4K', true],
  ['Nguyen', false],
  ['New York', false],
  ["O'Brien", false],
  ['Smith-Jones', false],
  ['A', false],
  ['東京', false],
])('%s keeps its case: %j', (word, expected) => {
  expect(keepsCase(word)).toBe(expected);
  expect(lexiconKey(word)).toBe(expected ? word : word.toLowerCase());
});
