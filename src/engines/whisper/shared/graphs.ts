/** The interface between the window decoder and the graphs of a model, independent of their format. */

import type { Float32Samples } from '../../../contract/engines/audio.ts';
import type { GraphInput, GraphOutput } from '../../../inference/runtime/runtime.ts';
import type { Attention } from './token-alignment.ts';

/** The encoded audio of one window. Opaque to the decoder. */
export interface EncodedWindow {
  /** Tensors by the names of the inputs of the decoder graph. */
  readonly tensors: Readonly<Record<string, GraphOutput>>;
}

/** Keys and values of the tokens so far. Opaque to the decoder. */
export interface DecoderCache {
  /** Tensors by the names of the inputs of the decoder graph. */
  readonly tensors: Readonly<Record<string, GraphOutput>>;
}

export interface DecoderStep {
  /** Logits of the vocabulary after the last token of the step. */
  readonly logits: Float32Samples;
  readonly cache: DecoderCache;
}

/** Sizes of a model. */
export interface WhisperShape {
  readonly width: number;
  readonly heads: number;
  readonly decoderLayers: number;
  readonly melBands: 80 | 128;
  /** Maximum number of tokens in the decoder, including the prompt. */
  readonly textPositions: number;
}

/** Returns the inputs of a decoder for an empty past, under the given names. */
export function emptyPast(
  { heads, width }: WhisperShape,
  names: readonly string[],
): Record<string, GraphInput> {
  const dims = [1, heads, 0, width / heads];
  const nothing: GraphInput = { type: 'float32', dims, data: new Float32Array(0) };
  return Object.fromEntries(names.map((name) => [name, nothing]));
}

export interface WhisperGraphs {
  readonly shape: WhisperShape;
  /** Whether a window can be encoded without padding it to 30 s. */
  readonly shortWindows: boolean;
  /**
   * Encodes a window.
   * @param mel log-mel spectrogram [melBands, frames], row-major.
   * @param frames at most 3000 frames of 10 ms, a multiple of {@link FRAME_MULTIPLE}. Always 3000 without
   *   {@link shortWindows}.
   */
  encode(mel: Float32Samples, frames: number): Promise<EncodedWindow>;
  /** Runs the decoder on the next tokens. @param cache of the previous step; absent for the first step. */
  step(window: EncodedWindow, tokens: readonly number[], cache?: DecoderCache): Promise<DecoderStep>;
  /**
   * Returns the attention probabilities of the alignment heads for each token and audio position; undefined when the
   * graphs do not provide them.
   */
  align(window: EncodedWindow, tokens: readonly number[]): Promise<Attention | undefined>;
  /** Idempotent. */
  close(): Promise<void>;
}

/** The number of mel frames of a window is a multiple of this: 0.2 s. */
export const FRAME_MULTIPLE = 20;
