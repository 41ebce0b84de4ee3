import { residentAloneKb } from '../resident-memory.ts';

/** How often is looked, as the service's own metric does. */
const PERIOD_MS = 10;

export interface Watched {
  /** Longest time for which this thread could not serve. */
  readonly longestPauseMs: number;
  /** Most resident memory of this process beyond that of the beginning. */
  readonly grownMb: number;
}

/** Watches this process; the result ends the watch. */
export function watchThread(): () => Watched {
  const beginKb = residentAloneKb(process.pid);
  let [longestPauseMs, mostKb, previousMs] = [0, beginKb, performance.now()];
  const timer = setInterval(() => {
    const nowMs = performance.now();
    longestPauseMs = Math.max(longestPauseMs, nowMs - previousMs - PERIOD_MS);
    previousMs = nowMs;
    mostKb = Math.max(mostKb, residentAloneKb(process.pid));
  }, PERIOD_MS);
  return () => {
    clearInterval(timer);
    return { longestPauseMs, grownMb: (mostKb - beginKb) / 1024 };
  };
}
