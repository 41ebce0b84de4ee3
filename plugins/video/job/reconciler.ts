import type { Id } from '../../../src/contract/core/id.ts';
import type { JobQueue } from '../../../src/contract/core/jobs.ts';
import type { Logger } from '../../../src/contract/core/logger.ts';
import type { Metrics } from '../../../src/contract/core/metrics.ts';
import type { VideoStore } from '../../../src/contract/stores/video-store.ts';
import { IntervalTask } from '../../../src/kit/async/interval-task.ts';

const EVERY_MS = 30_000;
/** Of one look into the store. */
const AT_ONCE = 100;

export interface VideoWatchParts {
  readonly videos: Pick<VideoStore, 'listOpen'>;
  readonly jobs: Pick<JobQueue, 'enqueue'>;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly everyMs?: number;
}

/**
 * Tells the queue of every video that has not ended, at the start and from time to time: of one whose creator died before
 * it could, and of all when the queue has lost them. Those that it knows are left as they are.
 */
export function videoWatch({
  videos,
  jobs,
  log,
  metrics,
  everyMs = EVERY_MS,
}: VideoWatchParts): IntervalTask {
  let open = 0;
  metrics.gauge('videos_open', 'Videos of all machines that had not ended at the last look.', () => open);
  async function look(signal: AbortSignal): Promise<void> {
    let count = 0;
    let after: Id<'video'> | undefined;
    do {
      const page: readonly Id<'video'>[] = await videos.listOpen(AT_ONCE, after);
      for (const id of page) {
        if (signal.aborted) return;
        await jobs.enqueue('video', id);
      }
      count += page.length;
      after = page.length < AT_ONCE ? undefined : page.at(-1);
    } while (after !== undefined);
    open = count;
  }
  return new IntervalTask({
    intervalMs: everyMs,
    runTask: (signal) =>
      look(signal).catch((error: unknown) => log.error('open videos could not be queued', error)),
  });
}
