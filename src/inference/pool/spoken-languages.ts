/** The languages that an embedded speech model speaks. */

import { frontEndOf, languageOfScript } from '../../text/front-end.ts';
import type { ModelVoice } from './model.ts';

export interface SpokenLanguages {
  /** BCP 47 tags, in the order in which errors list them. */
  readonly tags: readonly string[];
  /** Language of the default voice. */
  readonly byDefault: string;
  /** The language that a BCP 47 tag of any form means; undefined if the model does not speak it. */
  find(tag: string): string | undefined;
  /** The default voice of a language; absent or undefined: that of the model. */
  voiceOf?(language: string): ModelVoice | undefined;
  /** A voice as it speaks a language, which may not be its own; absent: every voice as it is. */
  accented?(voice: ModelVoice, language: string): ModelVoice;
}

/** @param tags of front ends. */
export function spokenLanguages(
  tags: readonly string[],
  byDefault: string,
  voices: Pick<SpokenLanguages, 'voiceOf' | 'accented'> = {},
): SpokenLanguages {
  return {
    tags,
    byDefault,
    find(tag) {
      const language = frontEndOf(tag)?.language;
      return language !== undefined && tags.includes(language) ? language : undefined;
    },
    ...voices,
  };
}

/**
 * The language of a sentence whose request names none: that of the voice or of the paragraph, unless its letters are those of
 * another script, which that language cannot read at all.
 */
export function sentenceLanguage(text: string, usual: string, languages: SpokenLanguages): string {
  if (languages.tags.length === 1) return usual;
  const ofScript = languageOfScript(text, usual);
  return languages.tags.includes(ofScript) ? ofScript : usual;
}
