import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../contract/core/clock.ts';

/** Maximum time without yielding to the event loop, in ms. */
const MAX_MS = 4;
/** Number of steps between two reads of the clock. */
const STEPS_PER_CHECK = 16;
/** Number of bytes between two reads of the clock: a step may process a line of several MB. */
const BYTES_PER_CHECK = 256 * 1024;

/** Yields to the event loop in loops of many short synchronous steps. Several loops that share a yielder share the time. */
export class EventLoopYielder {
  readonly #clock: Clock;
  #sinceMs: number;
  #steps = 0;
  #bytes = 0;
  #nextTurn: Promise<void> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#sinceMs = clock.monotonicMs();
  }

  /**
   * Counts a step. Returns whether {@link yieldNow} is due.
   * @param lengthBytes number of bytes that the step processed.
   */
  isDue(lengthBytes: number): boolean {
    this.#steps += 1;
    this.#bytes += lengthBytes;
    if (this.#steps < STEPS_PER_CHECK && this.#bytes < BYTES_PER_CHECK) return false;
    this.#steps = 0;
    this.#bytes = 0;
    return this.#clock.monotonicMs() - this.#sinceMs >= MAX_MS;
  }

  /** Resolves in the next turn of the event loop. */
  yieldNow(): Promise<void> {
    this.#nextTurn ??= setImmediate().then(() => {
      this.#nextTurn = undefined;
      this.#sinceMs = this.#clock.monotonicMs();
    });
    return this.#nextTurn;
  }
}
