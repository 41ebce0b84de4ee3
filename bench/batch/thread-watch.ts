import { residentAloneKb } from '../resident-memory.ts';

/** Sampling interval, as for the event loop metric of the service. */
const PERIOD_MS = 10;

export interface Watched {
  /** Longest pause of the event loop. */
  readonly maxPauseMs: number;
  /** Maximum growth of the resident memory of this process. */
  readonly grownMb: number;
}

/** Samples this process. @returns a function that stops sampling and returns the maxima. */
export function watchThread(): () => Watched {
  const startKb = residentAloneKb(process.pid);
  let [maxPauseMs, maxKb, previousMs] = [0, startKb, performance.now()];
  const timer = setInterval(() => {
    const nowMs = performance.now();
    maxPauseMs = Math.max(maxPauseMs, nowMs - previousMs - PERIOD_MS);
    previousMs = nowMs;
    maxKb = Math.max(maxKb, residentAloneKb(process.pid));
  }, PERIOD_MS);
  return () => {
    clearInterval(timer);
    return { maxPauseMs, grownMb: (maxKb - startKb) / 1024 };
  };
}
