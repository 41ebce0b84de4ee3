/** The language of synthesized speech: the field `audio.output.language`. */

import type { TtsEngine } from '../../../src/contract/engines/engine.ts';
import { MAX_TAG_CHARACTERS } from '../limits.ts';
import type { FieldErrors, SentField } from './fields.ts';

/** Languages of a speech model, as in `TtsEngine`. */
export type SpokenLanguages = Required<Pick<TtsEngine, 'languages' | 'languageOf'>>;

/** Undefined for an unknown model, and if only an upstream server knows its languages. */
export function spokenLanguagesOf(engine: TtsEngine | undefined): SpokenLanguages | undefined {
  if (engine?.languages === undefined) return undefined;
  return { languages: engine.languages, languageOf: (tag) => engine.languageOf?.(tag) };
}

/** The language that a BCP 47 tag means; undefined if the model does not speak it. Of unknown languages, any tag is accepted. */
export function spokenLanguageOf(tag: string, spoken: SpokenLanguages | undefined): string | undefined {
  return spoken === undefined ? tag : spoken.languageOf(tag);
}

/** What the field may be, for error messages. */
export function spokenLanguageRule(spoken: SpokenLanguages | undefined): string {
  return spoken === undefined
    ? 'a BCP 47 tag, or null'
    : `one of ${spoken.languages?.join(', ')}, or null for the language of the voice`;
}

/** Null and blank text mean the language of the voice. A rejected value keeps the previous one. */
export function readSpokenLanguage(
  { path, value }: SentField,
  prior: string | undefined,
  spoken: SpokenLanguages | undefined,
  errors: FieldErrors,
): string | undefined {
  if (value === null || (typeof value === 'string' && value.trim() === '')) return undefined;
  const isShort = typeof value === 'string' && value.length <= MAX_TAG_CHARACTERS;
  const tag = isShort ? spokenLanguageOf(value.trim(), spoken) : undefined;
  if (tag === undefined) errors.invalid(path, `must be ${spokenLanguageRule(spoken)}`);
  return tag ?? prior;
}
