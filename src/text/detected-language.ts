/** Detection of the language of a paragraph (docs/decisions/language-detection.md). */

import { evidenceFor, ngramsOf } from './detection/language-evidence.ts';
import { plainWords } from './detection/plain-words.ts';
import { profilesOf } from './detection/profiles.ts';
import { languageOfScript } from './front-end.ts';

/** Length of the beginning of a paragraph from which its language is detected, in UTF-16 units. */
export const MAX_DETECTED_CHARACTERS = 1000;

/** Words besides names, numbers and the like. With fewer, a text is in no other language than the usual one. */
const MIN_WORDS = 3;
/** Evidence for the other language, more than for the usual one: in sum, and on average of the n-grams. */
const MIN_EVIDENCE = 350;
const MIN_MEAN_EVIDENCE = 40;

/** The languages that a text may have. */
export interface PossibleLanguages {
  /** BCP 47 tags. */
  readonly languages: readonly string[];
  /** The tag of the language that texts have unless another one is certain. */
  readonly usual: string;
}

/**
 * The language of a text, one of the possible ones; undefined if it is uncertain: there is more evidence for another language than
 * for the usual one, but not enough, or the text has too few words. Takes less than 1 ms; only the first
 * {@link MAX_DETECTED_CHARACTERS} count. Does not throw.
 */
export function detectedLanguage(
  paragraph: string,
  { languages, usual }: PossibleLanguages,
): string | undefined {
  if (languages.length < 2) return usual;
  const text = paragraph.slice(0, MAX_DETECTED_CHARACTERS);
  const ofScript = languageOfScript(text, usual);
  if (ofScript !== usual && languages.includes(ofScript)) return ofScript;
  const usualCode = codeOf(usual);
  const tags = new Map(languages.toReversed().map((tag) => [codeOf(tag), tag]));
  const profiles = profilesOf([...tags.keys()]);
  const words = plainWords(text);
  const ngrams = ngramsOf(words);
  const usualProfile = profiles.get(usualCode);
  if (usualProfile === undefined || ngrams.size === 0) return undefined;
  const forUsual = evidenceFor(usualProfile, ngrams);
  let [best, most] = ['', 0];
  for (const [code, profile] of profiles) {
    const evidence = code === usualCode ? 0 : evidenceFor(profile, ngrams);
    if (evidence > most) [best, most] = [code, evidence];
  }
  const more = most - forUsual;
  const isClear = Math.abs(more) / ngrams.size >= MIN_MEAN_EVIDENCE;
  const hasWords = words.length >= MIN_WORDS;
  if (more <= 0) return hasWords || isClear ? usual : undefined;
  return hasWords && isClear && more >= MIN_EVIDENCE ? tags.get(best) : undefined;
}

/** The code of a language in the profiles. */
function codeOf(tag: string): string {
  const [primary = ''] = tag.toLowerCase().split(/[-_]/);
  return primary === 'nb' ? 'no' : primary;
}
