/**
 * The interface of a model to the pool. A model processes each request in inference steps of bounded duration, so that
 * steps of other requests can run in between. Models live in the inference process. The pool in the serving process
 * decides which step runs next and never accesses tensors.
 */

import type { Float32Samples } from '../../contract/engines/audio.ts';
import type { SpokenWord, SynthesisRequest } from '../../contract/engines/engine.ts';

/** The steps of one request. The last step may return its result instead of yielding it. */
export type Steps<Result> =
  | AsyncGenerator<Result | null, void, undefined>
  | AsyncGenerator<Result | null, Result | undefined, undefined>;

/**
 * A model that runs in steps. Requests, results and the description are sent between processes by structured clone, so
 * they are plain data and typed arrays. A request has at most a few megabytes.
 */
export interface StepModel<Request, Result, Description = undefined> {
  /** Properties of the loaded model that its engine needs. */
  readonly description: Description;
  /**
   * Opens one request. Nothing runs until the first `next()`. Each `next()` runs one step of bounded duration (text
   * front end, decoder window or encoder) and yields its result, or null if the step has no result yet. The
   * last step returns its result, if it has one: otherwise the job ends with another step, which waits for the steps of
   * other jobs, and a conversation synthesizes the next clause only after that. The caller must copy samples before the
   * next step. `return()` between two steps frees the resources of the request. Equal requests give equal results.
   */
  open(request: Request): Steps<Result>;
  /** Frees the sessions. The caller has closed all requests before. Idempotent. */
  close(): Promise<void>;
}

/** Runs all steps of one request in this process. Yields their results, including the one that the last step returns. */
export async function* resultsOf<Result>(steps: Steps<Result>): AsyncGenerator<Result, void, undefined> {
  for (;;) {
    const { value, done } = await steps.next();
    if (value != null) yield value;
    if (done) return;
  }
}

/**
 * A process or file that a step needs is not available now, while the model itself works. The request fails with `overloaded`, so
 * that clients retry it.
 */
export class ModelUnavailableError extends Error {
  override readonly name = 'ModelUnavailableError';
}

/** Voice of a synthesis request: a preset of the model, or a stored voice. */
export type ModelVoice =
  | { readonly kind: 'preset'; readonly name: string }
  | { readonly kind: 'adaptation'; readonly adaptation: string };

/** The part of a synthesis request that is sent to the inference process. */
export interface SpeechRequest
  extends Pick<SynthesisRequest, 'text' | 'givenSounds' | 'speed' | 'delivery' | 'firstAudioMs'> {
  /** Absent: the default voice of the model. */
  readonly voice?: ModelVoice | undefined;
  /** BCP 47 tag of a front end of `src/text`. Absent: the default language of the model. */
  readonly language?: string | undefined;
  /** Whether the results include the words of the text. */
  readonly words?: boolean;
}

export interface SpeechDescription {
  /** Whether {@link ModelVoice} may be an adaptation. */
  readonly supportsAdaptations: boolean;
  /** Rate of the samples, in Hz. */
  readonly rateHz: number;
  /** BCP 47 tag of the only language of the model. Absent: it has several, or the engine knows them. */
  readonly language?: string;
  /** Names of the voices inside the weights. Absent: none. */
  readonly speakers?: readonly string[];
}

/** The next chunk of samples, or words that start in the samples after it. */
export type SpeechResult = Float32Samples | readonly SpokenWord[];

export type SpeechModel = StepModel<SpeechRequest, SpeechResult, SpeechDescription>;
