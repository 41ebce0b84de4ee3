/**
 * What a model is to the pool: requests that are worked on in passes of bounded length, so that others can
 * run between them. Lives inside the inference process; the pool on the serving side decides which pass
 * runs next and never sees a tensor.
 */

import type { Float32Samples } from '../../contract/engines/audio.ts';
import type { SynthesisRequest } from '../../contract/engines/engine.ts';

/** Where inference runs (contract: `ORT_PROVIDER`) and with how many threads inside one operator. */
export interface RuntimeOptions {
  readonly provider: 'cpu' | 'cuda';
  readonly threads: number;
}

/**
 * Requests, results and the description cross between processes by structured clone: plain data and typed
 * arrays, a request of at most a few megabytes.
 */
export interface PassModel<Request, Result, Description = undefined> {
  /** What its engine must know of it. */
  readonly description: Description;
  /**
   * Starts one request. Nothing runs until the first `next()`; each `next()` runs one pass of bounded
   * length (a text front, a decoder window, an encoder) and gives its result, or null when the pass made
   * none that is of use yet. Samples belong to the caller, which copies what it sends on. `return()`
   * between two passes frees what the request holds. The same request gives the same results.
   */
  open(request: Request): AsyncGenerator<Result | null, void, undefined>;
  /** Frees the sessions. No request is open any more. Idempotent. */
  close(): Promise<void>;
}

/** Whose voice a pass speaks with: one that came with the model, or a stored one. */
export type PassVoice =
  | { readonly kind: 'preset'; readonly name: string }
  | { readonly kind: 'adaptation'; readonly adaptation: string };

/** What of a synthesis request crosses to the inference process. */
export interface SpeechRequest extends Pick<SynthesisRequest, 'text' | 'speed' | 'delivery'> {
  /** Absent: the first that the model was loaded with. */
  readonly voice?: PassVoice | undefined;
}

export interface SpeechDescription {
  /** Whether {@link PassVoice} may be an adaptation. */
  readonly speaksAdaptations: boolean;
  /** Rate of the samples, in Hz. */
  readonly rateHz: number;
}

/** A model that speaks: each result is the next run of samples. */
export type SpeechModel = PassModel<SpeechRequest, Float32Samples, SpeechDescription>;
