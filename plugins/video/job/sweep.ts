import type { Clock } from '../../../src/contract/core/clock.ts';
import type { Id } from '../../../src/contract/core/id.ts';
import type { Logger } from '../../../src/contract/core/logger.ts';
import type { BlobStore } from '../../../src/contract/stores/blob-store.ts';
import type { VideoStore } from '../../../src/contract/stores/video-store.ts';
import { prepareUploadFolder } from '../../../src/http/request/multipart.ts';
import type { IntervalTask } from '../../../src/kit/async/interval-task.ts';
import { hourlySweep } from '../../../src/kit/storage/hourly-sweep.ts';
import { listOldBlobs } from '../../../src/kit/storage/list-old-blobs.ts';
import { tidyBlobs } from './tidying.ts';
import { removeAbandonedWork } from './work-folder.ts';

const VIDEOS = 'videos/';

export interface SweepParts {
  readonly videos: Pick<VideoStore, 'listStates'>;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly log: Logger;
  /** Where requests and runs keep their files. */
  readonly folder: string;
}

/**
 * Removes blobs of videos that are deleted or were never made, those that ended jobs do not need, files of requests and
 * runs whose process died.
 */
export function videoSweep(parts: SweepParts): IntervalTask {
  const { blobs, clock, log, folder } = parts;
  return hourlySweep({
    what: 'videos',
    log,
    sweep: async (signal) => ({
      uploads: await prepareUploadFolder(folder, clock),
      folders: await removeAbandonedWork(folder),
      unfinished: await blobs.removeUnfinished(signal),
      blobs: await removeUnneeded(parts, signal),
    }),
  });
}

async function removeUnneeded(parts: SweepParts, signal: AbortSignal): Promise<number> {
  const { videos, blobs } = parts;
  let count = 0;
  for await (const names of listOldBlobs(parts, VIDEOS, signal)) {
    const ids = [...new Set(names.map((name) => name.split('/')[1] as Id<'video'>))];
    const states = new Map((await videos.listStates(ids)).map((state) => [state.id, state]));
    for (const id of ids) {
      signal.throwIfAborted();
      // A job that is not there needs as much as one that failed.
      const state = states.get(id) ?? { id, status: 'failed' as const, runner: undefined };
      count += await tidyBlobs(blobs, state, signal);
    }
  }
  return count;
}
