/** What the decoding of a window needs of a model's graphs, whoever wrote them. */

import type { Float32Samples } from '../../contract/audio.ts';
import type { GraphOutput } from '../runtime.ts';
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

export interface WhisperGraphs {
  readonly melBands: 80 | 128;
  /** Tokens that a decoder run can be long, prompt and all. */
  readonly textPositions: number;
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
