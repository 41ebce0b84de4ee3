import { residentAloneKb } from '../resident-memory.ts';

/** How often is looked, as the service's own metric does. */
const PERIOD_MS = 10;

export interface Watched {
  /** Longest time for which this thread could not serve. */
  readonly maxPauseMs: number;
  /** Most resident memory of this process beyond that of the beginning. */
  readonly grownMb: number;
}

/** Watches this process; the result ends the watch. */
export function watchThread(): () => Watched {
  const beginKb = residentAloneKb(process.pid);
  let [maxPauseMs, maxKb, previousMs] = [0, beginKb, performance.now()];
  const timer = setInterval(() => {
    const nowMs = performance.now();
    maxPauseMs = Math.max(maxPauseMs, nowMs - previousMs - PERIOD_MS);
    previousMs = nowMs;
    maxKb = Math.max(maxKb, residentAloneKb(process.pid));
  }, PERIOD_MS);
  return () => {
    clearInterval(timer);
    return { maxPauseMs, grownMb: (maxKb - beginKb) / 1024 };
  };
}
