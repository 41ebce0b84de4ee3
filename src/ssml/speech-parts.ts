/** What a text with markup asks for, in order. Pure data, independent of the engines. */

import type { GivenSounds } from '../contract/engines/engine.ts';

/** How a text is spoken. */
export interface SpeechStyle {
  /** Voice as named in the markup; undefined selects the voice of the request. */
  readonly voice: string | undefined;
  /** Language tag as named in the markup; undefined selects the language of the request. */
  readonly language: string | undefined;
  /** Factor of the speaking rate of the request, within {@link MIN_RATE} and {@link MAX_RATE}. */
  readonly rate: number;
  /** Linear factor of the samples. */
  readonly gain: number;
}

/** A position whose time is reported. */
export interface Mark {
  readonly name: string;
  /** Index of a UTF-16 unit of the text, or its length. */
  readonly at: number;
}

export interface TextPart {
  readonly kind: 'text';
  /** Not blank, with single spaces. A part starts and ends with a sentence, a pause or a change of style. */
  readonly text: string;
  readonly style: SpeechStyle;
  /** In order, without overlaps. */
  readonly givenSounds: readonly GivenSounds[];
  /** In order. */
  readonly marks: readonly Mark[];
}

export interface PausePart {
  readonly kind: 'pause';
  readonly ms: number;
}

/** A mark that is not in a text. */
export interface MarkPart {
  readonly kind: 'mark';
  readonly name: string;
}

export type SpeechPart = TextPart | PausePart | MarkPart;

/** Range of {@link SpeechStyle.rate}, after all nested elements. */
export const MIN_RATE = 0.25;
export const MAX_RATE = 4;

export const PLAIN_STYLE: SpeechStyle = { voice: undefined, language: undefined, rate: 1, gain: 1 };
