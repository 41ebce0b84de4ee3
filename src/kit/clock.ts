import type { Clock } from '../contract/clock.ts';

/** The machine's time; the only place that reads it. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
};
