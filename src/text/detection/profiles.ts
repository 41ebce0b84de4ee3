/**
 * The n-grams of languages: the database "extrasmall" of eld 2.1.0 (Apache-2.0), written by scripts/language-profiles.ts. Its
 * detector as a library takes 54 MB and 140 ms; the five languages of Kokoro in Latin letters take 3 MB and 6 ms.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Scores by n-gram: 4 bytes of UTF-8, one character each, with a space at the start and the end of a word. */
export type LanguageProfile = ReadonlyMap<string, number>;

interface ProfileLine {
  readonly language: string;
  /** N-grams, separated by `|`, by their score. */
  readonly ngrams: Readonly<Record<string, string>>;
}

const FILE = join(import.meta.dirname, 'profiles.jsonl');
/** The file has scores without the smallest one. */
const BASE_SCORE = 53;

/** Loaded profiles by language; undefined: the file has none. */
const loaded = new Map<string, LanguageProfile | undefined>();

/**
 * The profiles of languages that have one, by ISO 639-1 code. Those that were not used before are read from the file, which takes
 * 1 ms and another 0.5 ms for each.
 */
export function profilesOf(languages: readonly string[]): ReadonlyMap<string, LanguageProfile> {
  const missing = languages.filter((language) => !loaded.has(language));
  if (missing.length > 0) {
    // All characters are ASCII.
    const file = readFileSync(FILE, 'latin1');
    for (const language of missing) {
      const start = file.indexOf(`{"language":"${language}"`);
      loaded.set(
        language,
        start === -1 ? undefined : parseProfile(file.slice(start, file.indexOf('\n', start))),
      );
    }
  }
  return new Map(
    languages.flatMap((language) => {
      const profile = loaded.get(language);
      return profile === undefined ? [] : [[language, profile] as const];
    }),
  );
}

function parseProfile(line: string): LanguageProfile {
  const { ngrams } = JSON.parse(line) as ProfileLine;
  const profile = new Map<string, number>();
  for (const [score, all] of Object.entries(ngrams)) {
    for (const ngram of all.split('|')) profile.set(ngram, Number(score) + BASE_SCORE);
  }
  return profile;
}
