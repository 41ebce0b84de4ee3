/** How organizations want words to be pronounced. */

/** A word or a short phrase, and how it is read. Exactly one of `phonemes` and `respelling` is set. */
export interface LexiconEntry {
  /** Normalized, see `src/kit/validation/lexicon-entry.ts`. */
  readonly word: string;
  /** Canonical BCP 47 tag of the texts for which the entry holds; undefined: all texts. */
  readonly language: string | undefined;
  /** International Phonetic Alphabet. */
  readonly phonemes: string | undefined;
  /** Text that is read instead of the word. */
  readonly respelling: string | undefined;
}

export interface LexiconRecord extends LexiconEntry {
  /** Unix seconds. */
  readonly updatedAt: number;
}

/** Entries of an organization, identified by their word, as {@link LexiconStore.put} compares it, and their language. */
export interface LexiconStore {
  /** A number that grows with each change of the entries of an organization; 0 if there was none. */
  revision(organization: string): Promise<number>;
  /** All entries, ordered by word and language. */
  list(organization: string): Promise<readonly LexiconRecord[]>;
  /**
   * Stores an entry instead of the one with the same word and language. The case of a word that is matched in any case makes no
   * difference.
   * @param maxEntries maximum number of entries of an organization.
   * @throws ServiceError `invalid_request` (code `storage_limit_exceeded`) if the organization has that many other entries.
   */
  put(organization: string, entry: LexiconEntry, maxEntries: number): Promise<LexiconRecord>;
  /** @returns false if there is no such entry. */
  delete(organization: string, entry: Pick<LexiconEntry, 'word' | 'language'>): Promise<boolean>;
}

/** The entries for the texts of an organization. The object is the same until they change. */
export interface Lexicon {
  /** Entries of the organization. */
  readonly own: readonly LexiconEntry[];
  /** Entries of CONFIG, for all organizations. Those of the organization take precedence. */
  readonly shared: readonly LexiconEntry[];
}

/** The lexicons of all organizations. */
export interface Lexicons extends Omit<LexiconStore, 'revision'> {
  /**
   * The lexicon for the texts of an organization, at most 2 s old. Changes by this process take effect immediately.
   * @throws the errors of the store.
   */
  lexiconOf(organization: string): Promise<Lexicon>;
}
