import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../src/contract/clock.ts';

/** Longest run of work between two turns of the event loop. */
const MOST_MS = 4;
/** Steps between two looks at the clock. */
const STEPS = 16;

/** Lets others have their turn during a loop of many short steps that wait for nothing. */
export class EventLoopTurns {
  readonly #clock: Clock;
  #sinceMs: number;
  #steps = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#sinceMs = clock.monotonicMs();
  }

  /** Counts a step; whether {@link take} is due. */
  isDue(): boolean {
    this.#steps += 1;
    if (this.#steps % STEPS !== 0) return false;
    return this.#clock.monotonicMs() - this.#sinceMs >= MOST_MS;
  }

  async take(): Promise<void> {
    await setImmediate();
    this.#sinceMs = this.#clock.monotonicMs();
  }
}
