/** What the decoding of a window needs of a model's graphs, whoever wrote them. */

import type { Float32Samples } from '../../../contract/engines/audio.ts';
import type { GraphInput, GraphOutput } from '../../runtime/runtime.ts';
import type { Attention } from './token-alignment.ts';

/** One window's audio, encoded; opaque to whoever decodes it. */
export interface EncodedWindow {
  /** Tensors by the names of the decoder's inputs. */
  readonly tensors: Readonly<Record<string, GraphOutput>>;
}

/** What the decoder keeps of the tokens so far; opaque to whoever decodes. */
export interface DecoderCache {
  /** Tensors by the names of the decoder's inputs. */
  readonly tensors: Readonly<Record<string, GraphOutput>>;
}

export interface DecoderStep {
  /** For every token of the vocabulary, after the last of the step's tokens. */
  readonly logits: Float32Samples;
  readonly cache: DecoderCache;
}

/** Sizes that whoever runs the graphs has to know. */
export interface WhisperShape {
  readonly width: number;
  readonly heads: number;
  readonly decoderLayers: number;
  readonly melBands: 80 | 128;
  /** Tokens that a decoder run can be long, prompt and all. */
  readonly textPositions: number;
}

/** What a decoder's inputs for the past are before the first token, under the given names. */
export function noPast({ heads, width }: WhisperShape, names: readonly string[]): Record<string, GraphInput> {
  const dims = [1, heads, 0, width / heads];
  const nothing: GraphInput = { type: 'float32', dims, data: new Float32Array(0) };
  return Object.fromEntries(names.map((name) => [name, nothing]));
}

export interface WhisperGraphs {
  readonly shape: WhisperShape;
  /** Whether a window can be encoded without the silence that fills it up to 30 s. */
  readonly shortWindows: boolean;
  /**
   * @param mel log-mel spectrogram [melBands, frames], band after band; at most 3000 frames of 10 ms, a multiple
   *   of {@link FRAME_MULTIPLE}. Without {@link shortWindows} it is always 3000.
   */
  encode(mel: Float32Samples, frames: number): Promise<EncodedWindow>;
  /** @param cache of the step before; absent at the first. */
  step(window: EncodedWindow, tokens: readonly number[], cache?: DecoderCache): Promise<DecoderStep>;
  /**
   * Probabilities with which the alignment heads attend to each position of the audio, for each token; undefined
   * when the graphs do not show them.
   */
  align(window: EncodedWindow, tokens: readonly number[]): Promise<Attention | undefined>;
  /** Idempotent. */
  close(): Promise<void>;
}

/** Mel frames of a window come in multiples of this: 0.2 s. */
export const FRAME_MULTIPLE = 20;
