import type { Clock } from '../contract/core/clock.ts';

/** The machine's time; the only place that reads it. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
};

/** The time as the wire and the records have it. */
export function unixSeconds(clock: Clock): number {
  return Math.floor(clock.now() / 1000);
}
