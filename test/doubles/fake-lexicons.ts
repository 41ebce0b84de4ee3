import type { LexiconEntry, Lexicons } from '../../src/contract/stores/lexicon-store.ts';

/** Lexicons that cannot be changed. @param own entries of the organization `a`. */
export function fakeLexicons(own: readonly LexiconEntry[] = []): Lexicons {
  const lexicon = { own, shared: [] };
  const empty = { own: [], shared: [] };
  return {
    lexiconOf: async (organization) => (organization === 'a' ? lexicon : empty),
    list: async () => [],
    put: () => Promise.reject(new Error('not used')),
    delete: () => Promise.reject(new Error('not used')),
  };
}

/** An entry for every language. */
export function lexiconEntry(word: string, reading: Partial<Omit<LexiconEntry, 'word'>>): LexiconEntry {
  return { word, language: undefined, phonemes: undefined, respelling: undefined, ...reading };
}
