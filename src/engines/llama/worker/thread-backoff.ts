/**
 * Number of threads of the next step. The threads of llama.cpp wait for each other many times in each step. When another
 * process needs a core, all of them wait for the one that lost it, and a step takes up to fifty times as long. One thread has
 * nothing to wait for. After a slow step, the next steps therefore use one thread: for 50 ms after the first slow step, and
 * for twice the time after each further one. While audio inference is known to run, steps use half of the threads, so that no
 * step has to be slow first.
 */

/** A step is slow if it takes this many times as long as expected. */
const SLOW_FACTOR = 3;
/** Additional tolerance in ms, for timers and the scheduler of the operating system. */
const TOLERANCE_MS = 5;
const MIN_BACKOFF_MS = 50;
const MAX_BACKOFF_MS = 800;

export class ThreadBackoff {
  readonly #threads: number;
  /** Monotonic time in ms. */
  #backoffEndMs = Number.NEGATIVE_INFINITY;
  /** Duration after the next slow step. */
  #backoffMs = MIN_BACKOFF_MS;
  #isShared = false;

  /** @param threads number of threads on an idle machine. */
  constructor(threads: number) {
    this.#threads = threads;
  }

  /** @param nowMs monotonic time in ms. */
  threads(nowMs: number): number {
    if (nowMs < this.#backoffEndMs) return 1;
    return this.#isShared ? Math.max(1, this.#threads >> 1) : this.#threads;
  }

  /** @param isShared whether the cores are shared with audio inference from now on. */
  share(isShared: boolean): void {
    this.#isShared = isShared;
  }

  /**
   * Records a finished step.
   * @param step its number of threads, as returned by {@link threads}, and monotonic times in ms.
   * @param expectedMs its duration on an idle machine with all threads.
   * @returns whether it was as fast as expected, so that its duration may improve the expectation.
   */
  record(
    {
      startMs,
      endMs,
      threads,
    }: { readonly startMs: number; readonly endMs: number; readonly threads: number },
    expectedMs: number,
  ): boolean {
    if (threads < this.#threads) return false;
    const slow = endMs - startMs > SLOW_FACTOR * expectedMs + TOLERANCE_MS;
    if (slow) {
      this.#backoffEndMs = endMs + this.#backoffMs;
      this.#backoffMs = Math.min(MAX_BACKOFF_MS, this.#backoffMs * 2);
    } else this.#backoffMs = Math.max(MIN_BACKOFF_MS, this.#backoffMs / 2);
    return !slow;
  }
}
