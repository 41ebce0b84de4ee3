/**
 * A model whose work is cut into passes, so that a long synthesis can be shared, paused and cancelled
 * between them. Lives inside the inference process; the pool on the serving side decides which pass
 * runs next and never sees a tensor.
 */

import type { Float32Samples } from '../contract/audio.ts';
import type { SynthesisRequest } from '../contract/engine.ts';

/** What of a synthesis request crosses to the inference process. */
export type PassRequest = Pick<SynthesisRequest, 'text' | 'voice' | 'speed' | 'delivery'>;

/** Where inference runs (contract: `ORT_PROVIDER`) and with how many threads inside one operator. */
export interface RuntimeOptions {
  readonly provider: 'cpu' | 'cuda';
  readonly threads: number;
}

export interface PassModel {
  /** Rate of the samples that {@link open} yields, in Hz. */
  readonly rateHz: number;
  /**
   * Starts one synthesis. Nothing runs until the first `next()`; each `next()` runs one pass of bounded
   * length (the text front, one decoder window) and gives its samples, or null when the pass made none
   * that can be heard yet. The arrays belong to the caller, which copies what it sends on. `return()`
   * between two passes frees what the synthesis holds. The same request gives the same samples.
   */
  open(request: PassRequest): AsyncGenerator<Float32Samples | null, void, undefined>;
  /** Frees the sessions. No synthesis is open any more. Idempotent. */
  close(): Promise<void>;
}
