/** Requests and results of Whisper: one window of audio, its text, and the context for the next window. */

import type { Float32Samples } from '../../../contract/engines/audio.ts';
import type {
  TranscriptDelta,
  TranscriptionRequest,
  TranscriptWord,
} from '../../../contract/engines/engine.ts';
import type { WindowSegment } from './window-segments.ts';

/** One window, with context from the previous windows. */
export interface WhisperRequest
  extends Pick<
    TranscriptionRequest,
    'task' | 'languages' | 'prompt' | 'keywords' | 'temperature' | 'timestamps' | 'textTokens'
  > {
  /** Mono, 16 kHz, at most 30 s. */
  readonly samples: Float32Samples;
  /** ISO code. Undefined: the language is detected. */
  readonly language: string | undefined;
  /** Language detected in the previous window. It changes only if the detection is confident. */
  readonly likelyLanguage: string | undefined;
  /** Text tokens of the previous window, used as context. */
  readonly previous: readonly number[];
  /** End of the speech before this window, in seconds relative to its start: 0 or less. */
  readonly lastSpeechS: number;
}

export type WhisperResult =
  /** The next text of the window. */
  | ({
      readonly kind: 'text';
      /** ISO code of the language of the text. */
      readonly language: string;
    } & TranscriptDelta)
  /** The last result. */
  | ({ readonly kind: 'window' } & WindowTranscript);

export interface WindowTranscript {
  /**
   * Seconds of the window that were transcribed; undefined for all. A text with timestamps may end before the speech does:
   * the rest then requires another window.
   */
  readonly transcribedS?: number | undefined;
  /** ISO code; undefined when the request has no language and the window has no speech. */
  readonly language: string | undefined;
  /** Text tokens as context for the next window; empty if it must not build on this one. */
  readonly carryOver: readonly number[];
  /** Number of tokens of the caller's prompt and keywords. */
  readonly promptTokens: number;
  readonly outputTokens: number;
  /** 0–1: whether the words of the window end like a complete sentence. */
  readonly sentenceEnd: number;
  /** Times in seconds from the start of the window. Empty when no timestamps were requested. */
  readonly segments: readonly WindowSegment[];
  readonly words: readonly TranscriptWord[];
}
