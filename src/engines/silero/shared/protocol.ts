/** Messages between the voice activity engine and its process. One batch is in flight at a time. */

import type { Float32Samples } from '../../../contract/engines/audio.ts';
import { CONTEXT_SAMPLES, FRAME_SAMPLES } from './frame.ts';

export interface LoadSilero {
  /** Path of the published graph. */
  readonly model: string;
}

/** Samples per row of a batch: the context before the frame, and the frame. */
export const BATCH_ROW_SAMPLES = CONTEXT_SAMPLES + FRAME_SAMPLES;

/** Frames of several streams. */
export interface FrameBatch {
  /** Stream id of each row. Several rows of one stream are its frames in order. */
  readonly streams: Uint32Array<ArrayBuffer>;
  /** {@link BATCH_ROW_SAMPLES} samples per row, at 16 kHz. */
  readonly audio: Float32Samples;
}

export type ToSilero =
  /** Classifies a batch. Reply: one `classified`. A new id starts a stream. */
  | ({ readonly kind: 'classify' } & FrameBatch)
  /** Deletes the state of streams. Has no reply. */
  | { readonly kind: 'drop-streams'; readonly streams: readonly number[] };

/** The probability of speech of each row, 0–1. */
export interface FromSilero {
  readonly kind: 'classified';
  readonly probabilities: Float32Samples;
}
