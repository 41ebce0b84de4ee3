import type { Logger } from '../../contract/core/logger.ts';
import type { BlobStore } from '../../contract/stores/blob-store.ts';
import { IntervalTask } from '../async/interval-task.ts';

const INTERVAL_MS = 3_600_000;

export interface SweepSettings {
  /** Plural noun of the removed items, for log messages. */
  readonly what: string;
  /** Removes the items and returns the number of removed items by kind. */
  readonly sweep: (signal: AbortSignal) => Promise<Readonly<Record<string, number>>>;
  readonly blobs: Pick<BlobStore, 'removeUnfinished'>;
  readonly log: Logger;
}

/**
 * Removes unreachable data and unfinished blobs of crashed processes at startup and every hour, and logs the result. The
 * owner closes it.
 */
export function hourlySweep({ what, sweep, blobs, log }: SweepSettings): IntervalTask {
  return new IntervalTask({
    intervalMs: INTERVAL_MS,
    async runTask(signal) {
      try {
        const removed = { ...(await sweep(signal)), unfinished: await blobs.removeUnfinished(signal) };
        if (Object.values(removed).some((count) => count > 0)) log.info(`${what} swept`, removed);
      } catch (error) {
        if (!signal.aborted) log.error(`${what} could not be swept`, error);
      }
    },
  });
}
