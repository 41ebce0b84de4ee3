import type { BlobStore } from '../../src/contract/blob-store.ts';
import type { Clock } from '../../src/contract/clock.ts';
import type { Id } from '../../src/contract/id.ts';
import type { Logger } from '../../src/contract/logger.ts';
import type { VideoStore } from '../../src/contract/video-store.ts';
import { prepareUploadFolder } from '../../src/http/multipart.ts';
import { unixSeconds } from '../../src/kit/clock.ts';
import { RecurringWork } from '../../src/kit/recurring-work.ts';
import { tidyBlobs } from './video-tidying.ts';
import { removeAbandonedWork } from './work-folder.ts';

const EVERY_MS = 3_600_000;
/** A blob without a job that is younger may be of a request that goes on. */
const ORPHAN_S = 86_400;
const AT_ONCE = 500;
const VIDEOS = 'videos/';

export interface SweepParts {
  readonly videos: Pick<VideoStore, 'states'>;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly log: Logger;
  /** Where requests and runs keep their files. */
  readonly folder: string;
}

/**
 * Removes what nobody can reach any more, at the start and every hour: blobs of videos that are deleted or were never
 * made, those that ended jobs do not need, files of requests and runs whose process died.
 */
export function videoSweep(parts: SweepParts): RecurringWork {
  const { log } = parts;
  return new RecurringWork({
    everyMs: EVERY_MS,
    work: async (signal) => {
      try {
        const removed = await sweep(parts, signal);
        if (removed > 0) log.info('videos swept', { removed });
      } catch (error) {
        if (!signal.aborted) log.error('videos could not be swept', error);
      }
    },
  });
}

/** How many blobs and folders it removed. */
async function sweep({ videos, blobs, clock, folder }: SweepParts, signal: AbortSignal): Promise<number> {
  await prepareUploadFolder(folder, clock);
  let count = (await removeAbandonedWork(folder)) + (await blobs.removeUnfinished(signal));
  for await (const ids of oldVideos(blobs, unixSeconds(clock) - ORPHAN_S, signal)) {
    const states = new Map((await videos.states(ids)).map((state) => [state.id, state]));
    for (const id of ids) {
      signal.throwIfAborted();
      // A job that is not there needs as much as one that failed.
      const state = states.get(id) ?? { id, status: 'failed' as const, runner: undefined };
      count += await tidyBlobs(blobs, state, signal);
    }
  }
  return count;
}

/** Ids of videos that have an old blob, some at once. */
async function* oldVideos(
  blobs: BlobStore,
  before: number,
  signal: AbortSignal,
): AsyncGenerator<Id<'video'>[], void, undefined> {
  let ids = new Set<Id<'video'>>();
  for await (const { name, changedAt } of blobs.list(VIDEOS, signal)) {
    if (changedAt > before) continue;
    ids.add(name.split('/')[1] as Id<'video'>);
    if (ids.size < AT_ONCE) continue;
    yield [...ids];
    ids = new Set();
  }
  yield [...ids];
}
