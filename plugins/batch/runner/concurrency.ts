/** How many lines of a batch run at once, pure: more while the engine takes them, half when it says that it is full. */

/** An attempt at a line, by its number in the batch's run. */
export type Attempt = number;

const FIRST_LIMIT = 8;

/**
 * Begins as TCP does: each success lets one more run until the first refusal; after it, as many successes as may run
 * let one more run, and each refusal halves. Attempts that began before the limit was halved are no news about what it
 * is now.
 */
export class LinePace {
  readonly #most: number;
  #limit: number;
  /** Whether nothing was refused yet. */
  #isFirstRise = true;
  #attempts: Attempt = 0;
  /** The last attempt that began before the limit was halved. */
  #oldNews: Attempt = 0;

  /** @param most that may run at once. */
  constructor(most: number) {
    this.#most = most;
    this.#limit = Math.min(FIRST_LIMIT, most);
  }

  /** From 1. */
  get limit(): number {
    return Math.floor(this.#limit);
  }

  begin(): Attempt {
    this.#attempts += 1;
    return this.#attempts;
  }

  succeeded(attempt: Attempt): void {
    if (attempt <= this.#oldNews) return;
    const rise = this.#isFirstRise ? 1 : 1 / this.#limit;
    this.#limit = Math.min(this.#most, this.#limit + rise);
  }

  /** The engine, or what is behind it, could not take it. */
  refused(attempt: Attempt): void {
    if (attempt <= this.#oldNews) return;
    this.#isFirstRise = false;
    this.#limit = Math.max(1, this.#limit / 2);
    this.#oldNews = this.#attempts;
  }
}
