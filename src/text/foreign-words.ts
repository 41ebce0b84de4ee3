/** Words in the script of another language, for conversions to the symbols of Kokoro. */

import { symbolsOfKana } from './kana.ts';
import type { EspeakNg } from './language.ts';

/** Languages of eSpeak by script. Of a script that several languages share, the one with most speakers. */
const VOICES: readonly (readonly [script: RegExp, voice: string])[] = [
  [/\p{Script=Han}/u, 'cmn'],
  [/\p{Script=Cyrillic}/u, 'ru'],
  [/\p{Script=Greek}/u, 'el'],
  [/\p{Script=Arabic}/u, 'ar'],
  [/\p{Script=Hebrew}/u, 'he'],
  [/\p{Script=Hangul}/u, 'ko'],
  [/\p{Script=Thai}/u, 'th'],
  [/\p{Script=Devanagari}/u, 'hi'],
  [/\p{Script=Bengali}/u, 'bn'],
  [/\p{Script=Gurmukhi}/u, 'pa'],
  [/\p{Script=Gujarati}/u, 'gu'],
  [/\p{Script=Tamil}/u, 'ta'],
  [/\p{Script=Telugu}/u, 'te'],
  [/\p{Script=Kannada}/u, 'kn'],
  [/\p{Script=Malayalam}/u, 'ml'],
  [/\p{Script=Armenian}/u, 'hy'],
  [/\p{Script=Georgian}/u, 'ka'],
];
const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}\uff70]/u;
/** Reads Latin letters. */
const LATIN_VOICE = 'en-us';
/** Longer "words" are noise; they are truncated, not rejected. */
const MAX_WORD_LETTERS = 60;

/**
 * Whether a word is in a script that eSpeak reads letter by letter, or not at all, by the rules of another one.
 * @param voice of eSpeak, whose script is not foreign.
 */
export function isForeign(word: string, voice: string): boolean {
  if (/\p{Script=Latin}/u.test(word)) return false;
  return KANA.test(word) || ![undefined, voice].includes(scriptVoice(word));
}

function scriptVoice(word: string): string | undefined {
  return VOICES.find(([script]) => script.test(word))?.[1];
}

/**
 * Phonemes of words in IPA, each by the rules of a language of its script. Kana have the symbols of Kokoro.
 * @throws the errors of {@link EspeakNg}.
 */
export async function foreignPhonemes(espeak: EspeakNg, words: readonly string[]): Promise<string[]> {
  const phonemes = words.map((word) => (KANA.test(word) ? symbolsOfKana(word.normalize('NFKC')) : undefined));
  const byVoice = Map.groupBy(
    words.flatMap((word, i) =>
      phonemes[i] === undefined ? [{ i, word: word.slice(0, MAX_WORD_LETTERS) }] : [],
    ),
    ({ word }) => scriptVoice(word) ?? LATIN_VOICE,
  );
  for (const [voice, asked] of byVoice) {
    const spoken = await espeak(
      voice,
      asked.map(({ word }) => word),
    );
    for (const [at, { i }] of asked.entries()) {
      // eSpeak writes the language of a word that it reads by other rules in brackets.
      phonemes[i] = (spoken[at] ?? '').replace(/\([a-z-]{2,8}\)/gu, '');
    }
  }
  return phonemes.map((sounds) => sounds ?? '');
}
