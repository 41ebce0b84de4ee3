/** How well words fit languages, by the method of eld: n-grams of 4 bytes, of which each counts once. */

import type { LanguageProfile } from './profiles.ts';

const NGRAM_BYTES = 4;
/** The n-grams of a word overlap by one byte. */
const STRIDE = 3;
const MAX_WORD_BYTES = 70;

/** The n-grams of words: a word of up to 4 bytes is one. */
export function ngramsOf(words: readonly string[]): ReadonlySet<string> {
  const ngrams = new Set<string>();
  for (const word of words) {
    const bytes = Buffer.from(word, 'utf8').toString('latin1');
    const length = Math.min(bytes.length, MAX_WORD_BYTES);
    let at = 0;
    for (; at + NGRAM_BYTES < length; at += STRIDE) {
      ngrams.add((at === 0 ? ' ' : '') + bytes.slice(at, at + NGRAM_BYTES));
    }
    ngrams.add(`${at === 0 ? ' ' : ''}${bytes.slice(Math.max(0, length - NGRAM_BYTES), length)} `);
  }
  return ngrams;
}

/** The sum of the scores of n-grams in a language. */
export function evidenceFor(profile: LanguageProfile, ngrams: ReadonlySet<string>): number {
  let sum = 0;
  for (const ngram of ngrams) sum += profile.get(ngram) ?? 0;
  return sum;
}
