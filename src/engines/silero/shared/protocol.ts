/** Messages between the voice activity engine and its process. One batch is under way at a time. */

import type { Float32Samples } from '../../../contract/engines/audio.ts';
import { CONTEXT_SAMPLES, FRAME_SAMPLES } from './graph.ts';

/** What the process loads: the path of the published graph. */
export interface LoadSilero {
  readonly model: string;
}

/** Samples of a row of a batch: those before the frame, and the frame. */
export const BATCH_ROW_SAMPLES = CONTEXT_SAMPLES + FRAME_SAMPLES;

/** Frames of many streams. */
export interface FrameBatch {
  /** The stream of each row; a stream may have several rows, which are its frames in order. */
  readonly streams: Uint32Array<ArrayBuffer>;
  /** {@link BATCH_ROW_SAMPLES} for each row, at 16 kHz. */
  readonly audio: Float32Samples;
}

export type ToSilero =
  /** Answered by one `judged`. A number that is new begins a stream. */
  | ({ readonly kind: 'judge' } & FrameBatch)
  /** Forgets streams. Never answered. */
  | { readonly kind: 'forget'; readonly streams: readonly number[] };

/** The probability of speech in each row. */
export interface FromSilero {
  readonly kind: 'judged';
  readonly probabilities: Float32Samples;
}
