/** What crosses to the inference process and back: one window of audio, its words, what the next window needs. */

import type { Float32Samples } from '../../../contract/engines/audio.ts';
import type { TranscriptionRequest, TranscriptWord } from '../../../contract/engines/engine.ts';
import type { WindowSegment } from './window-segments.ts';

/** One window, with what the ones before it told. */
export interface WhisperRequest
  extends Pick<TranscriptionRequest, 'task' | 'prompt' | 'temperature' | 'timestamps'> {
  /** Mono, 16 kHz, at most 30 s. */
  readonly samples: Float32Samples;
  /** ISO code; absent: detected. */
  readonly language: string | undefined;
  /** What was detected in the window before; it takes more than a doubt to change it. */
  readonly likelyLanguage: string | undefined;
  /** Text tokens of the window before, which this one continues. */
  readonly previous: readonly number[];
  /** When speech ended before this window, in seconds of this one: 0 or less. */
  readonly lastSpeechS: number;
}

export type WhisperResult =
  /** The next words of the window. */
  | {
      readonly kind: 'text';
      readonly text: string;
      /** ISO code of the language that it is written in. */
      readonly language: string;
    }
  /** The last result. */
  | ({ readonly kind: 'window' } & WindowTranscript);

export interface WindowTranscript {
  /**
   * Seconds of the window that were transcribed; undefined for all. A text with times may end while somebody still
   * speaks: what follows wants a window of its own.
   */
  readonly heardS?: number | undefined;
  /** ISO code; undefined when none was given and nothing was said. */
  readonly language: string | undefined;
  /** Text tokens, for the next window; empty when that should not build on this one. */
  readonly carryOver: readonly number[];
  /** Of the caller's prompt. */
  readonly promptTokens: number;
  readonly outputTokens: number;
  /** In seconds of the window; empty when no times were asked for. */
  readonly segments: readonly WindowSegment[];
  readonly words: readonly TranscriptWord[];
}
