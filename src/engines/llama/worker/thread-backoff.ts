/**
 * Number of threads of the next step. The threads of llama.cpp wait for each other many times in each step. When another
 * process needs a core, all of them wait for the one that lost it, and a step takes up to fifty times as long. One thread has
 * nothing to wait for. After a slow step, the steps of the next half second therefore use one thread.
 */

/** A step is slow if it takes this many times as long as expected. */
const SLOW_FACTOR = 3;
/** Additional tolerance in ms, for timers and the scheduler of the operating system. */
const TOLERANCE_MS = 5;
const BACKOFF_MS = 500;

export class ThreadBackoff {
  readonly #threads: number;
  /** Monotonic time in ms. */
  #backoffEndMs = Number.NEGATIVE_INFINITY;

  /** @param threads number of threads on an idle machine. */
  constructor(threads: number) {
    this.#threads = threads;
  }

  /** @param nowMs monotonic time in ms. */
  threads(nowMs: number): number {
    return nowMs < this.#backoffEndMs ? 1 : this.#threads;
  }

  /**
   * Records a finished step.
   * @param expectedMs its duration on an idle machine with all threads.
   * @returns whether it was as fast as expected, so that its duration may improve the expectation.
   */
  record(startMs: number, endMs: number, expectedMs: number): boolean {
    if (startMs < this.#backoffEndMs) return false;
    const slow = endMs - startMs > SLOW_FACTOR * expectedMs + TOLERANCE_MS;
    if (slow) this.#backoffEndMs = endMs + BACKOFF_MS;
    return !slow;
  }
}
