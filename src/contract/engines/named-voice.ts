/** Voices that requests can name, in addition to stored voices. */

/** The voices of OpenAI's API (type `voice` of `/v1/audio/speech` and of realtime sessions in the package `openai`). */
export const OPENAI_VOICES = [
  'alloy',
  'ash',
  'ballad',
  'cedar',
  'coral',
  'echo',
  'fable',
  'marin',
  'nova',
  'onyx',
  'sage',
  'shimmer',
  'verse',
] as const;
export type OpenaiVoice = (typeof OPENAI_VOICES)[number];

/** A voice of a model. */
export interface NamedVoice {
  /** Its name in requests. */
  readonly id: string;
  /** For people. */
  readonly name: string;
  /** BCP 47 tag, such as `en-GB`. */
  readonly language: string;
  /** Absent if the model does not tell. */
  readonly gender?: 'female' | 'male' | undefined;
  /** The voice of the model that is heard, if it has another name. */
  readonly preset?: string | undefined;
}
