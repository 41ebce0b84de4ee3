import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../../src/contract/core/clock.ts';

/** Longest run of work between two turns of the event loop. */
const MAX_MS = 4;
/** Steps between two looks at the clock, */
const STEPS = 16;
/** and the bytes that they may work on: a step may be a line of some megabytes. */
const STEP_BYTES = 256 * 1024;

/** Lets others have their turn during a loop of many short steps that wait for nothing. */
export class EventLoopTurns {
  readonly #clock: Clock;
  #sinceMs: number;
  #steps = 0;
  #bytes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#sinceMs = clock.monotonicMs();
  }

  /**
   * Counts a step; whether {@link take} is due.
   * @param lengthBytes of what the step worked on.
   */
  isDue(lengthBytes: number): boolean {
    this.#steps += 1;
    this.#bytes += lengthBytes;
    if (this.#steps < STEPS && this.#bytes < STEP_BYTES) return false;
    this.#steps = 0;
    this.#bytes = 0;
    return this.#clock.monotonicMs() - this.#sinceMs >= MAX_MS;
  }

  async take(): Promise<void> {
    await setImmediate();
    this.#sinceMs = this.#clock.monotonicMs();
  }
}
