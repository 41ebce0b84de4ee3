/**
 * The languages of text to speech. This is the only file of the folders of the languages' side that engines import; a
 * language is added by its folder and a line in {@link FRONT_ENDS}.
 */

import { americanEnglish, britishEnglish } from './english/index.ts';
import { createEspeakG2p } from './espeak-g2p.ts';
import { french } from './french/index.ts';
import { hindi } from './hindi/index.ts';
import { italian } from './italian/index.ts';
import { japanese } from './japanese/index.ts';
import type { G2p, G2pResources, TextFrontEnd } from './language.ts';
import { mandarin } from './mandarin/index.ts';
import { brazilianPortuguese } from './portuguese/index.ts';
import { scriptParts } from './script-parts.ts';
import { spanish } from './spanish/index.ts';
import { wordsAsWritten } from './words-as-written.ts';

export { plainIpa } from './ipa.ts';
export type {
  AccentVoice,
  EspeakNg,
  G2p,
  G2pResources,
  Pronunciation,
  SpokenFormWord,
  TextFrontEnd,
} from './language.ts';
export { scriptParts } from './script-parts.ts';
export { TracedText } from './traced-text.ts';

/** In the order in which the API lists them. */
export const FRONT_ENDS: readonly TextFrontEnd[] = [
  americanEnglish,
  britishEnglish,
  spanish,
  french,
  italian,
  brazilianPortuguese,
  hindi,
  mandarin,
  japanese,
];

/** The language of texts whose language is unknown. */
export const DEFAULT_LANGUAGE = americanEnglish.language;

/** Longer tags do not exist (RFC 5646, section 4.4.1 recommends 35 characters). */
const MAX_TAG_CHARACTERS = 64;

/**
 * The front end of a BCP 47 tag, in any case, also with `_`. An unknown region or script falls back to the language
 * (RFC 4647, section 3.4): `es-MX` is `es`, `pt` is `pt-BR`.
 * @returns undefined for a language without a front end.
 */
export function frontEndOf(tag: string): TextFrontEnd | undefined {
  if (tag.length > MAX_TAG_CHARACTERS) return undefined;
  const subtags = tag.trim().toLowerCase().replaceAll('_', '-').split('-');
  for (; subtags.length > 0; subtags.pop()) {
    const range = subtags.join('-');
    const found = FRONT_ENDS.find(
      ({ language, aliases }) => language.toLowerCase() === range || aliases.includes(range),
    );
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * The language of a text by its letters: the one whose script has most of them, which is `ofVoice` if its script has as many.
 * Latin letters belong to every language, because all of them have names and foreign words; a text that is mostly in Latin
 * letters is in the language of the voice.
 */
export function languageOfScript(text: string, ofVoice: string): string {
  const lettersOf = (pattern: RegExp | undefined) =>
    pattern === undefined ? 0 : (text.match(pattern)?.length ?? 0);
  let most = Math.max(lettersOf(LATIN), lettersOf(frontEndOf(ofVoice)?.letters));
  let found = ofVoice;
  for (const { letters, language } of FRONT_ENDS) {
    const count = lettersOf(letters);
    if (count <= most) continue;
    most = count;
    found = language;
  }
  return found;
}

const LATIN = /\p{Script=Latin}/gu;

/** The front end of a language that is known to exist. @throws Error for another one. */
export function requireFrontEnd(language: string): TextFrontEnd {
  const found = frontEndOf(language);
  if (found === undefined) throw new Error(`no front end for the language '${language}'`);
  return found;
}

/** The spoken form of a text, as one line. Parts in the script of another language are read by its rules. */
export function spokenForm(frontEnd: TextFrontEnd, text: string): string {
  return scriptParts(text, frontEnd.language)
    .flatMap((part) => wordsIn(part.language)(part.text))
    .map((word) => word.text)
    .join(' ');
}

/**
 * Opens the conversion of a language to the symbols of Kokoro: that of its front end, or for other languages that of eSpeak NG.
 * @throws Error for a missing dictionary.
 */
export async function openKokoroG2p(language: string, resources: G2pResources): Promise<G2p> {
  const frontEnd = frontEndOf(language);
  if (frontEnd !== undefined) return await frontEnd.openKokoroG2p(resources);
  const { symbols, espeak } = resources;
  return createEspeakG2p({ voice: language, words: wordsIn(language), symbols, espeak });
}

/**
 * The spoken form of texts in a language: that of its front end, or for other languages the words as written, whose numbers a
 * phonemizer reads by rules of its own.
 */
export function wordsIn(language: string): TextFrontEnd['words'] {
  return frontEndOf(language)?.words ?? ((text) => wordsAsWritten(text, language));
}
