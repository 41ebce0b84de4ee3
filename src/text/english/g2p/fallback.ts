/** Pronunciation of words that no dictionary has: the one interface that eSpeak stands behind. */

import type { Lexicon } from './lexicon.ts';

export interface Fallback {
  /**
   * Phonemes of each word, in Kokoro's symbols and in the order given; an empty string where a word
   * cannot be spoken.
   */
  phonemes(words: readonly string[]): Promise<readonly string[]>;
}

/** Says unknown words letter by letter: the last resort when eSpeak cannot be loaded. */
export function spellingFallback(lexicon: Lexicon): Fallback {
  return {
    phonemes: async (words) => words.map((word) => lexicon.spelled(word.replace(/[^A-Za-z]/g, '')) ?? ''),
  };
}
