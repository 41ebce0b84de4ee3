/**
 * Brings a transcript and the words that should have been spoken to the same form, so that their
 * difference counts misheard words and not spelling.
 *
 * Both sides go through the reading rules of the text front end ("$5.50" and "five dollars and fifty cents"
 * become the same words), then: lower case, punctuation off, hyphens split, single letters in a row
 * joined ("a m" and "AM" → "am"), and a few spellings of the same sound made equal.
 */

import { normalizeEnglish } from '../../src/text/english/normalize/normalize.ts';

/** A line of test/fixtures/spoken-texts.jsonl. */
export interface SpokenText {
  readonly id: string;
  /** What is synthesised. */
  readonly text: string;
  /** What a person says, in words; several where people differ. */
  readonly spoken: string | readonly string[];
}

/** Words that a recogniser writes in one way or another. */
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

/** "f b i" → "fbi"; a single "a" or "i" among words stays. */
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

/** "one hundred and five": the "and" inside a number is a habit, not a word that was asked for. */
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

/** Levenshtein distance over words; the reference with the lowest rate counts. */
export function wordErrors(spoken: string | readonly string[], transcript: string): WordErrors {
  const heard = transcriptWords(transcript);
  const accepted = typeof spoken === 'string' ? [spoken] : spoken;
  const results = accepted.map((reference) => {
    const said = transcriptWords(reference);
    return { errors: distance(said, heard), words: said.length };
  });
  results.sort((a, b) => a.errors / Math.max(1, a.words) - b.errors / Math.max(1, b.words));
  return results[0] ?? { errors: heard.length, words: 0 };
}

function distance(said: readonly string[], heard: readonly string[]): number {
  let row = heard.map((_, i) => i + 1);
  row.unshift(0);
  for (let i = 1; i <= said.length; i++) {
    const next = [i];
    for (let j = 1; j <= heard.length; j++) {
      const swapped = (row[j - 1] ?? 0) + (said[i - 1] === heard[j - 1] ? 0 : 1);
      next.push(Math.min(swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[heard.length] ?? 0;
}
