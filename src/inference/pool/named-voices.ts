import type { NamedVoice } from '../../contract/engines/named-voice.ts';
import type { ModelVoice } from './model.ts';

/** A voice that a request names. */
export interface FoundVoice {
  readonly voice: ModelVoice;
  /** BCP 47 tag of its language: of a blend, that of its largest part. */
  readonly language: string;
  /** Whether the voice has no language of its own, as OpenAI's voices, which speak the language of the text. */
  readonly isOfAnyLanguage?: boolean;
}

/** The voices of an embedded model that requests can name. */
export interface NamedVoices {
  /** In the order in which the API lists them. */
  readonly list: readonly NamedVoice[];
  /** Returns the voice of a name in any case, listed or described, such as a blend; undefined for an unknown one. */
  find(name: string): FoundVoice | undefined;
  /** Returns why a description of a voice is not accepted, in one sentence; undefined for a plain name. */
  problemOf(name: string): string | undefined;
}

/** The form in which names are compared: clients write `Alloy` and `AF_Heart`. */
export function voiceKey(name: string): string {
  return name.trim().toLowerCase();
}

/** A name for people: `af_heart` is `Heart`. */
export function displayName(id: string): string {
  const name = id.slice(id.indexOf('_') + 1);
  return name.slice(0, 1).toUpperCase() + name.slice(1);
}
