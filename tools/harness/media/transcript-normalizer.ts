/**
 * Normalizes transcripts and reference texts, so that their difference counts wrong words and not spelling.
 *
 * Applies the text normalization of speech ("$5.50" → "five dollars and fifty cents"), then: lower case, no punctuation,
 * hyphens split, consecutive single letters joined ("a m" and "AM" → "am"), equivalent spellings unified.
 */

import { normalizeEnglish } from '../../../src/text/english/normalize/normalize.ts';

/** A line of spoken-texts.jsonl. */
export interface SpokenText {
  readonly id: string;
  /** Text to synthesize. */
  readonly text: string;
  /** Spoken form in words; several if there are variants. */
  readonly spoken: string | readonly string[];
}

/** Equivalent spellings. */
const SAME: Readonly<Record<string, string>> = {
  okay: 'ok',
  mr: 'mister',
  mrs: 'missus',
  dr: 'doctor',
  oh: 'zero',
  o: 'zero',
  grey: 'gray',
  colour: 'color',
  kilometre: 'kilometer',
  kilometres: 'kilometers',
  etc: 'et cetera',
};

/** Comparable words of a transcript or reference. */
export function transcriptWords(text: string): string[] {
  const words = normalizeEnglish(text)
    .toLowerCase()
    .replace(/[-—]/gu, ' ')
    .replace(/[^\p{L}\p{N}' ]/gu, '')
    .split(' ')
    .filter((word) => word !== '');
  return joinLetters(words)
    .flatMap((word) => (SAME[word] ?? word).split(' '))
    .filter((_word, i, all) => !isNumberAnd(all, i));
}

/** "f b i" → "fbi"; single "a" or "i" is kept. */
function joinLetters(words: readonly string[]): string[] {
  const out: string[] = [];
  let letters = '';
  for (const word of [...words, '']) {
    if (/^\p{L}$/u.test(word)) {
      letters += word;
      continue;
    }
    if (letters !== '') out.push(letters);
    letters = '';
    if (word !== '') out.push(word);
  }
  return out;
}

const SCALES = new Set(['hundred', 'thousand', 'million', 'billion']);

/** Whether an "and" is inside a number, where it is optional: "one hundred and five". */
function isNumberAnd(words: readonly string[], at: number): boolean {
  return words[at] === 'and' && SCALES.has(words[at - 1] ?? '') && isNumberWord(words[at + 1] ?? '');
}

function isNumberWord(word: string): boolean {
  return /^(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty)$/.test(word);
}

/** Word errors of a transcript against the best of the accepted references. */
export interface WordErrors {
  /** Substituted, missing and added words. */
  readonly errors: number;
  /** Words of the reference. */
  readonly words: number;
}

/** Levenshtein distance in words; the reference with the lowest error rate counts. */
export function wordErrors(spoken: string | readonly string[], transcript: string): WordErrors {
  const actual = transcriptWords(transcript);
  const accepted = typeof spoken === 'string' ? [spoken] : spoken;
  const results = accepted.map((reference) => {
    const expected = transcriptWords(reference);
    return { errors: distance(expected, actual), words: expected.length };
  });
  results.sort((a, b) => a.errors / Math.max(1, a.words) - b.errors / Math.max(1, b.words));
  return results[0] ?? { errors: actual.length, words: 0 };
}

function distance(expected: readonly string[], actual: readonly string[]): number {
  let row = actual.map((_, i) => i + 1);
  row.unshift(0);
  for (let i = 1; i <= expected.length; i++) {
    const next = [i];
    for (let j = 1; j <= actual.length; j++) {
      const swapped = (row[j - 1] ?? 0) + (expected[i - 1] === actual[j - 1] ? 0 : 1);
      next.push(Math.min(swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[actual.length] ?? 0;
}
