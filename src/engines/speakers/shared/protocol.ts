/** Requests and results of the speaker encoder. */

import type { Float32Samples } from '../../../contract/engines/audio.ts';

export interface SpeakerRequest {
  /** Mono. */
  readonly samples: Float32Samples;
  /** Sample rate, in Hz. */
  readonly rateHz: number;
}

/** The first result is the pitch, followed by the embeddings of the partials in order. */
export type SpeakerResult =
  | {
      readonly kind: 'pitch';
      /** Median pitch in Hz; undefined when hardly any audio is voiced. */
      readonly hz: number | undefined;
    }
  /** Embeddings of several partials, concatenated. */
  | { readonly kind: 'partials'; readonly embeddings: Float32Array<ArrayBuffer> };
