import type { Clock } from '../contract/core/clock.ts';

/** System clock; the only module that reads it. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
};

/** Returns the current time in Unix seconds, as in the API and the database. */
export function unixSeconds(clock: Clock): number {
  return Math.floor(clock.now() / 1000);
}
