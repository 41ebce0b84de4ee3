/** The names of a Piper voice: its own, and those of OpenAI's voices. */

import { OPENAI_VOICES } from '../../contract/engines/named-voice.ts';
import { displayName, type NamedVoices, voiceKey } from '../pool/named-voices.ts';
import { type SpokenLanguages, spokenLanguages } from '../pool/spoken-languages.ts';

/**
 * A Piper file has one voice. OpenAI's names select it too, because clients send them as their defaults; the list shows what
 * is heard.
 * @param voice such as `en_US-joe-medium`.
 */
export function piperVoices(voice: string): NamedVoices {
  const { language, speaker } = partsOf(voice);
  const described = { language, gender: 'male' } as const;
  const names = new Set([voiceKey(voice), speaker, ...OPENAI_VOICES]);
  return {
    list: [
      { id: voice, name: displayName(speaker), ...described },
      ...OPENAI_VOICES.map((id) => ({ id, name: displayName(id), ...described, preset: voice })),
    ],
    find: (name) =>
      names.has(voiceKey(name))
        ? { voice: { kind: 'preset', name: voice }, language: described.language }
        : undefined,
    problemOf: () => undefined,
  };
}

/** The language of the voice. @param voice such as `en_US-joe-medium`. */
export function piperLanguages(voice: string): SpokenLanguages {
  const { language } = partsOf(voice);
  return spokenLanguages([language], language);
}

function partsOf(voice: string): { readonly language: string; readonly speaker: string } {
  const [, language = '', region = '', speaker = ''] = /^([a-z]+)_([A-Z]+)-([^-]+)-/.exec(voice) ?? [];
  return { language: `${language}-${region}`, speaker };
}
