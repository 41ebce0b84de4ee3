import type { Clock } from '../../../src/contract/core/clock.ts';
import type { Id } from '../../../src/contract/core/id.ts';
import type { Logger } from '../../../src/contract/core/logger.ts';
import type { ResponseStore } from '../../../src/contract/stores/response-store.ts';
import { IntervalTask } from '../../../src/kit/async/interval-task.ts';
import { unixSeconds } from '../../../src/kit/clock.ts';

const EVERY_MS = 60_000;
/** A response that nobody has worked on for so long lost its process: that is five beats. */
export const SILENT_S = 300;
const AT_ONCE = 100;

export interface WatchParts {
  readonly responses: ResponseStore;
  /** Stored responses on which this process works. */
  readonly open: () => readonly Id<'response'>[];
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Tells from time to time which stored responses this process works on, and ends those of processes that are gone:
 * they have `failed`.
 */
export function unfinishedWatch({ responses, open, clock, log }: WatchParts): IntervalTask {
  return new IntervalTask({
    intervalMs: EVERY_MS,
    async runTask() {
      try {
        const now = unixSeconds(clock);
        await responses.recordHeartbeat(open(), now);
        const lost = await responses.listStale(now - SILENT_S, AT_ONCE);
        for (const { organization, response } of lost) {
          const error = {
            code: 'server_error',
            message: 'The server stopped before the response was finished.',
          };
          // Without effect on one that has ended meanwhile.
          const failed = { ...response, status: 'failed' as const, error };
          await responses.update(organization, failed);
        }
        if (lost.length > 0) log.warn('responses of a process that is gone', { responses: lost.length });
      } catch (error) {
        log.error('unfinished responses could not be read', error);
      }
    },
  });
}
