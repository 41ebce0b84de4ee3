import type { Clock } from '../../../src/contract/core/clock.ts';

/** A clock that only a test advances. */
export class ManualClock implements Clock {
  #nowMs: number;
  #elapsedMs = 0;

  /** @param nowMs Unix time in ms; the default is 2026-01-02T03:04:05Z. */
  constructor(nowMs = 1_767_323_045_000) {
    this.#nowMs = nowMs;
  }

  now(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  advance(byMs: number): void {
    this.#nowMs += byMs;
    this.#elapsedMs += byMs;
  }

  /** Moves the wall clock without advancing the monotonic clock. */
  step(byMs: number): void {
    this.#nowMs += byMs;
  }
}
