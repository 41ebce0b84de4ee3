/** Interface for the pronunciation of words that are not in the dictionary; implemented with eSpeak. */

import type { Lexicon } from './lexicon.ts';

export interface Fallback {
  /**
   * Returns the phonemes of each word in Kokoro's symbols, in the given order; an empty string for a word
   * without a pronunciation.
   */
  phonemes(words: readonly string[]): Promise<readonly string[]>;
}

/** Spells unknown words letter by letter. Used if eSpeak cannot be loaded. */
export function spellingFallback(lexicon: Lexicon): Fallback {
  return {
    phonemes: async (words) => words.map((word) => lexicon.spelled(word.replace(/[^A-Za-z]/g, '')) ?? ''),
  };
}
