/** The languages of Kokoro's preset voices. The first letter of a name is its language. */

import { DEFAULT_LANGUAGE, FRONT_ENDS } from '../../../text/front-end.ts';
import { presetNames } from './voice-mix.ts';

const LANGUAGES: ReadonlyMap<string, string> = new Map(
  FRONT_ENDS.filter(({ borrowsKokoroVoice }) => !borrowsKokoroVoice).map(({ kokoroVoice, language }) => [
    kokoroVoice.charAt(0),
    language,
  ]),
);

/** Names of the presets whose language has a front end. English ones are first. */
export function spokenPresetNames(): string[] {
  return presetNames().filter((name) => LANGUAGES.has(name.charAt(0)));
}

/** BCP 47 tag of the language of a preset. A preset of a language without front end speaks the default language. */
export function languageOfPreset(name: string): string {
  return LANGUAGES.get(name.charAt(0)) ?? DEFAULT_LANGUAGE;
}
