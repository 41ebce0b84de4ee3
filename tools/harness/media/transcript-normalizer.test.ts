import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type SpokenText, transcriptWords, wordErrors } from './transcript-normalizer.ts';

describe('equivalent spellings have the same words', () => {
  test.each([
    ['The ticket costs $5.50.', 'the ticket costs five dollars and fifty cents'],
    ['Room No. 5 at 3:30 p.m.', 'room number five at three thirty pm'],
    ['Dr. Smith and Mrs. Jones', 'doctor smith and missus jones'],
    ['NASA, the F.B.I.', 'nasa the f b i'],
    ['twenty-one trees', '21 trees'],
    ['one hundred and five', '105'],
    ['In 1905, okay?', 'in nineteen oh five ok'],
    ['March 3rd, 2024', 'march third twenty twenty four'],
    ['at 7.45am', 'at seven forty five am'],
    ['etc.', 'et cetera'],
  ])('%s', (written, spoken) => expect(transcriptWords(written)).toEqual(transcriptWords(spoken)));

  test('keeps "and" that is not inside a number', () => {
    expect(transcriptWords('a hundred and then')).toEqual(['a', 'hundred', 'and', 'then']);
  });
});

describe('word errors', () => {
  test.each([
    ['the cat sat', 'the cat sat', 0, 3],
    ['the cat sat', 'the hat sat', 1, 3],
    ['the cat sat', 'the sat', 1, 3],
    ['the cat sat', 'the big cat sat', 1, 3],
    ['the cat sat', '', 3, 3],
    ['', 'the', 1, 0],
  ])('counts errors of %j transcribed as %j', (reference, transcript, errors, words) =>
    expect(wordErrors(reference, transcript)).toEqual({ errors, words }),
  );

  test('uses the best of several references', () => {
    expect(wordErrors(['on the third of may', 'on may third'], 'On May 3rd.')).toEqual({
      errors: 0,
      words: 3,
    });
  });
});

describe('spoken-texts.jsonl', () => {
  const lines = readFileSync(new URL('./spoken-texts.jsonl', import.meta.url), 'utf8')
    .trim()
    .split('\n');
  const texts = lines.map((line) => JSON.parse(line) as SpokenText);

  test('has at least 24 texts with unique ids', () => {
    expect(texts.length).toBeGreaterThanOrEqual(24);
    expect(new Set(texts.map(({ id }) => id)).size).toBe(texts.length);
  });

  test.each(texts)('the text and the spoken form of $id are equivalent', ({ text, spoken }) => {
    expect(wordErrors(spoken, text).errors).toBe(0);
  });
});
