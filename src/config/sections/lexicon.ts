import { type Static, Type } from '@sinclair/typebox';
import type { LexiconEntry } from '../../contract/stores/lexicon-store.ts';
import { checkedEntry, lexiconKey, MAX_LEXICON_ENTRIES } from '../../kit/validation/lexicon-entry.ts';
import { type Location, section, value } from '../section.ts';

/** The lengths and values are checked by {@link lexiconEntries}. */
const Entry = Type.Object(
  {
    word: Type.String(),
    language: Type.Optional(Type.String()),
    phonemes: Type.Optional(Type.String()),
    respelling: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
);

/** How words are pronounced, for all organizations. The guide has an example of an entry. */
export const LEXICON = section('lexicon', {
  entries: value<Static<typeof Entry>[], readonly LexiconEntry[], readonly LexiconEntry[]>(
    'entries',
    Type.Array(Entry, { maxItems: MAX_LEXICON_ENTRIES }),
    { default: Object.freeze([]) },
    lexiconEntries,
  ),
});

/** @throws ConfigError with the location of an invalid or repeated entry. */
function lexiconEntries(written: readonly Static<typeof Entry>[], at: Location): readonly LexiconEntry[] {
  const keys = new Set<string>();
  const entries = written.map((each, index) => {
    const { entry, problem } = checkedEntry(each);
    if (problem !== undefined) throw at.error(problem.problem, `.${index}.${problem.field}`);
    const key = JSON.stringify([lexiconKey(entry.word), entry.language]);
    if (keys.has(key)) throw at.error('repeats the word and the language of another entry', `.${index}`);
    keys.add(key);
    return Object.freeze(entry);
  });
  return Object.freeze(entries);
}
