import type { Id } from '../../../src/contract/core/id.ts';
import type { JobQueue } from '../../../src/contract/core/jobs.ts';
import type { Logger } from '../../../src/contract/core/logger.ts';
import type { Metrics } from '../../../src/contract/core/metrics.ts';
import type { VideoStore } from '../../../src/contract/stores/video-store.ts';
import { IntervalTask } from '../../../src/kit/async/interval-task.ts';

const INTERVAL_MS = 30_000;
/** Number of videos per store query. */
const PAGE_SIZE = 100;

export interface VideoReconcilerDeps {
  readonly videos: Pick<VideoStore, 'listOpen'>;
  readonly jobs: Pick<JobQueue, 'enqueue'>;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly intervalMs?: number;
}

/**
 * Adds every unfinished video to the job queue at start and every 30 s. This covers jobs whose creator crashed before it
 * queued them, and a queue that lost its jobs. Adding a job that is already queued has no effect.
 */
export function startVideoReconciler({
  videos,
  jobs,
  log,
  metrics,
  intervalMs = INTERVAL_MS,
}: VideoReconcilerDeps): IntervalTask {
  let open = 0;
  metrics.gauge('videos_open', 'Unfinished videos of all machines, as of the last check.', () => open);
  async function reconcile(signal: AbortSignal): Promise<void> {
    let count = 0;
    let after: Id<'video'> | undefined;
    do {
      const page: readonly Id<'video'>[] = await videos.listOpen(PAGE_SIZE, after);
      for (const id of page) {
        if (signal.aborted) return;
        await jobs.enqueue('video', id);
      }
      count += page.length;
      after = page.length < PAGE_SIZE ? undefined : page.at(-1);
    } while (after !== undefined);
    open = count;
  }
  return new IntervalTask({
    intervalMs,
    runTask: (signal) =>
      reconcile(signal).catch((error: unknown) => log.error('open videos could not be queued', error)),
  });
}
