/**
 * Delays the steps of a language model while urgent audio inference needs the cores. Both would otherwise slow each other
 * down: the threads of llama.cpp wait for each other many times in a step. A pause is limited, and is followed by time for
 * steps, so that the model keeps a third of the time under a continuous load of audio.
 */

import type { Clock } from '../../../contract/core/clock.ts';

export const MAX_PAUSE_MS = 250;
/** Time in which steps may start after a pause of the maximum length. */
export const RUN_MS = 125;

export class StepGate {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #isPaused = false;
  /** Monotonic time until which the gate is open, even while paused. */
  #openUntilMs = Number.NEGATIVE_INFINITY;
  #resumed: PromiseWithResolvers<void> | undefined;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#resumed?.resolve();
  }

  /** Resolves when the next step may start. One caller at a time. */
  async pass(): Promise<void> {
    if (!this.#isPaused || this.#clock.monotonicMs() < this.#openUntilMs) return;
    this.#resumed = Promise.withResolvers();
    const timer = setTimeout(() => {
      this.#openUntilMs = this.#clock.monotonicMs() + RUN_MS;
      this.#resumed?.resolve();
    }, MAX_PAUSE_MS);
    await this.#resumed.promise;
    clearTimeout(timer);
    this.#resumed = undefined;
  }
}
