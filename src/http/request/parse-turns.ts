import type { Clock } from '../../contract/core/clock.ts';
import { systemClock } from '../../kit/clock.ts';
import { FairSemaphore } from '../../kit/limits/fair-semaphore.ts';

/** Bodies from this size on are parsed in turn. Smaller ones take less than 1 ms. */
export const LARGE_BODY_BYTES = 256 * 1024;

/**
 * The pause after a parse, as a multiple of its duration. With a pause as long as the parse, a flood of bodies still keeps one core
 * busy, and the threads of a language model wait for each other (1.3 s to the first token on two cores, instead of 0.1 s).
 */
const PAUSE_FACTOR = 3;

/** Waits for a time in ms. */
export type Wait = (ms: number) => Promise<void>;

export const waitOnTimer: Wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Parses large bodies one at a time, organizations in turn. Parsing blocks the event loop (8 MB of JSON for up to 50 ms), so each
 * parse is followed by a pause of three times its length: other requests get at least three quarters of the main thread, and wait
 * for one parse at most. The number of waiting bodies is limited by the budget of their bytes.
 */
export class ParseTurns {
  readonly #turns = new FairSemaphore({
    maxConcurrent: 1,
    maxConcurrentPerKey: 1,
    maxQueued: Number.POSITIVE_INFINITY,
  });
  readonly #clock: Clock;
  readonly #wait: Wait;

  constructor(clock: Clock = systemClock, wait: Wait = waitOnTimer) {
    this.#clock = clock;
    this.#wait = wait;
  }

  /**
   * Runs `parse` in the turn of an organization.
   * @param organization empty for requests without a key.
   * @throws the signal's reason after an abort, and the errors of `parse`.
   */
  async run<Result>(
    organization: string,
    parse: () => Result | Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    const release = await this.#turns.acquire(organization, signal);
    const startMs = this.#clock.monotonicMs();
    try {
      return await parse();
    } finally {
      void this.#wait(PAUSE_FACTOR * (this.#clock.monotonicMs() - startMs)).then(release);
    }
  }
}
