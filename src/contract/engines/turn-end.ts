/** End-of-turn detection: whether a speaker who pauses has finished. */

import type { Float32Samples } from './audio.ts';
import type { ReadyReport } from './engine.ts';

/** Decides from the sound of the speech, not from its words. */
export interface TurnEndDetector {
  /**
   * Returns the probability, 0–1, that the speaker has finished. Requests are processed in order of arrival. An abort
   * throws the signal's reason; a request that has not started is then skipped.
   * @param samples mono, 16 kHz, the end of the turn including its trailing silence; only the last 8 s are used. The
   *   array may be modified after the call.
   * @throws ServiceError `overloaded` if too many requests are queued or the model failed to load, `internal` if the
   *   process crashed.
   */
  probability(samples: Float32Samples, signal: AbortSignal): Promise<number>;
  ready(): ReadyReport;
  /** Closes the detector; open requests fail. Idempotent. */
  close(): Promise<void>;
}
