/** Adapts the number of concurrent lines of a batch to the capacity of the engine. Pure. */

/** Sequence number of an attempt within a run. */
export type Attempt = number;

const INITIAL_LIMIT = 8;

/**
 * Limits concurrency by additive increase and multiplicative decrease, with slow start as in TCP (RFC 5681). Until the
 * first rejection each success raises the limit by 1; afterwards a full window of successes does. Each rejection halves
 * the limit. Outcomes of attempts that started before the last halving are ignored.
 */
export class ConcurrencyLimiter {
  readonly #max: number;
  #limit: number;
  /** Whether no attempt has been rejected yet. */
  #isSlowStart = true;
  #attempts: Attempt = 0;
  /** The last attempt that started before the limit was halved. */
  #lastStaleAttempt: Attempt = 0;

  /** @param max maximum number of concurrent attempts. */
  constructor(max: number) {
    this.#max = max;
    this.#limit = Math.min(INITIAL_LIMIT, max);
  }

  /** The current limit, at least 1. */
  get limit(): number {
    return Math.floor(this.#limit);
  }

  startAttempt(): Attempt {
    this.#attempts += 1;
    return this.#attempts;
  }

  succeeded(attempt: Attempt): void {
    if (attempt <= this.#lastStaleAttempt) return;
    const rise = this.#isSlowStart ? 1 : 1 / this.#limit;
    this.#limit = Math.min(this.#max, this.#limit + rise);
  }

  /** Records that the engine or its upstream had no capacity for an attempt. */
  rejected(attempt: Attempt): void {
    if (attempt <= this.#lastStaleAttempt) return;
    this.#isSlowStart = false;
    this.#limit = Math.max(1, this.#limit / 2);
    this.#lastStaleAttempt = this.#attempts;
  }
}
