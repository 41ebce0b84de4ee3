import type { Logger } from '../../contract/core/logger.ts';
import { IntervalTask } from '../async/interval-task.ts';

const EVERY_MS = 3_600_000;

export interface SweepSettings {
  /** What is swept, in the plural, as the log names it. */
  readonly what: string;
  /** Removes it; how much, by kind. */
  readonly sweep: (signal: AbortSignal) => Promise<Readonly<Record<string, number>>>;
  readonly log: Logger;
}

/** Removes what nobody can reach any more, at the start and every hour, and logs it. Its owner closes it. */
export function hourlySweep({ what, sweep, log }: SweepSettings): IntervalTask {
  return new IntervalTask({
    intervalMs: EVERY_MS,
    async runTask(signal) {
      try {
        const removed = await sweep(signal);
        if (Object.values(removed).some((count) => count > 0)) log.info(`${what} swept`, removed);
      } catch (error) {
        if (!signal.aborted) log.error(`${what} could not be swept`, error);
      }
    },
  });
}
