/** What a feature may ask of a model, whatever runs it: a local ONNX graph or an upstream server. */

import type { Float32Samples } from './audio.ts';

/**
 * Who waits for the result. Passes of a higher class run before those of a lower one, at every pass
 * boundary: a live conversation before an HTTP request before a batch line.
 */
export type Priority = 'realtime' | 'interactive' | 'batch';

/** State of a part of the service, for `/readyz`. */
export interface ReadyReport {
  readonly ready: boolean;
  /** Why it is not ready, or what it runs on; free of private content. */
  readonly detail?: string;
}

export interface SynthesisRequest {
  /** Text of one pass: a sentence or a clause of at most 600 characters (spec 4.3, rule 2). */
  readonly text: string;
  /** Voice name of the engine; absent means the engine's configured default. */
  readonly voice?: string | undefined;
  /** 0.25–4, 1 is natural; a hint that an engine may ignore (spec 4.3). */
  readonly speed: number;
  readonly priority: Priority;
  /**
   * `stream`: the first audio is wanted as soon as it can be had, later windows may grow.
   * `whole`: nothing is heard before the end, so the engine takes its most efficient windows.
   */
  readonly delivery: 'stream' | 'whole';
  /**
   * Audio that this listener still has to hear from earlier requests, in ms; absent means none. A stream
   * that is ahead can wait while others begin.
   */
  readonly aheadMs?: number | undefined;
}

/** Text to speech. */
export interface TtsEngine {
  /** Rate of the samples that {@link synthesize} yields, in Hz. */
  readonly rateHz: number;
  /**
   * Speaks one text. Yields mono samples at {@link rateHz} in order, at least one run unless the text
   * holds nothing that can be spoken. The arrays belong to the caller. Not consuming stops the work at
   * the next pass boundary; so does `return()` or an abort, which throws the signal's reason.
   * @throws ServiceError `overloaded` when the queue is full, `internal` when a worker died,
   *   `upstream` when a remote engine failed.
   */
  synthesize(request: SynthesisRequest, signal: AbortSignal): AsyncIterable<Float32Samples>;
  ready(): ReadyReport;
  /** Idempotent; frees workers, sessions and sockets. */
  close(): Promise<void>;
}
