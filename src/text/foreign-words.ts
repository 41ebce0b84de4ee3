/** Words in the script of another language, for conversions to the symbols of Kokoro. */

import { symbolsOfKana } from './kana.ts';
import type { EspeakNg } from './language.ts';
import { SCRIPTS } from './scripts.ts';

/** Languages of eSpeak by script. */
const VOICES: readonly (readonly [script: RegExp, voice: string])[] = SCRIPTS.map(({ name, espeakVoice }) => [
  new RegExp(`\\p{Script=${name}}`, 'u'),
  espeakVoice,
]);
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
