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
}

/** @param tags of front ends. */
export function spokenLanguages(
  tags: readonly string[],
  byDefault: string,
  voiceOf?: SpokenLanguages['voiceOf'],
): SpokenLanguages {
  return {
    tags,
    byDefault,
    find(tag) {
      const language = frontEndOf(tag)?.language;
      return language !== undefined && tags.includes(language) ? language : undefined;
    },
    ...(voiceOf && { voiceOf }),
  };
}

/**
 * The language of a sentence whose request names none: that of the voice, unless its letters are those of another script, which
 * the language of the voice cannot read at all.
 */
export function sentenceLanguage(text: string, ofVoice: string, languages: SpokenLanguages): string {
  if (languages.tags.length === 1) return ofVoice;
  const ofScript = languageOfScript(text, ofVoice);
  return languages.tags.includes(ofScript) ? ofScript : ofVoice;
}
