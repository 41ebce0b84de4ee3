/** What crosses between the engines that tell voices apart and their model. */

import type { Float32Samples } from '../../../contract/engines/audio.ts';

export interface SpeakerRequest {
  /** Mono. */
  readonly samples: Float32Samples;
  /** Of the samples, in Hz. */
  readonly rateHz: number;
}

/** One of two kinds of results: the pitch comes first, then embeddings of runs in order. */
export type SpeakerResult =
  | {
      readonly kind: 'pitch' /** Median, in Hz; undefined for what is not voiced. */;
      readonly hz: number | undefined;
    }
  /** Some embeddings, one after the other. */
  | { readonly kind: 'runs'; readonly embeddings: Float32Array<ArrayBuffer> };
