import type { Clock } from '../../../src/contract/core/clock.ts';
import type { Id } from '../../../src/contract/core/id.ts';
import type { Logger } from '../../../src/contract/core/logger.ts';
import type { ResponseStore } from '../../../src/contract/stores/response-store.ts';
import { IntervalTask } from '../../../src/kit/async/interval-task.ts';
import { unixSeconds } from '../../../src/kit/clock.ts';

const HEARTBEAT_INTERVAL_MS = 60_000;
/** A response without a heartbeat for this long has lost its process. It equals five heartbeat intervals. */
export const STALE_AFTER_S = 300;
const PAGE_SIZE = 100;

export interface StaleResponseReaperDeps {
  readonly responses: ResponseStore;
  /** Returns the stored responses that this process is generating. */
  readonly open: () => readonly Id<'resp_'>[];
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Periodically records a heartbeat for the responses of this process, and marks the responses of crashed
 * processes as `failed`.
 */
export function staleResponseReaper({ responses, open, clock, log }: StaleResponseReaperDeps): IntervalTask {
  return new IntervalTask({
    intervalMs: HEARTBEAT_INTERVAL_MS,
    async runTask() {
      try {
        const now = unixSeconds(clock);
        await responses.recordHeartbeat(open(), now);
        const stale = await responses.listStale(now - STALE_AFTER_S, PAGE_SIZE);
        for (const { organization, response } of stale) {
          const error = {
            code: 'server_error',
            message: 'The server stopped before the response was finished.',
          };
          // Has no effect on a response that has finished since the query.
          const failed = { ...response, status: 'failed' as const, error };
          await responses.update(organization, failed);
        }
        if (stale.length > 0)
          log.warn('responses of a crashed process marked as failed', { responses: stale.length });
      } catch (error) {
        log.error('unfinished responses could not be checked', error);
      }
    },
  });
}
