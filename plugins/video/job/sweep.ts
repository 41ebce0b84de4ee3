import type { Clock } from '../../../src/contract/core/clock.ts';
import type { Id } from '../../../src/contract/core/id.ts';
import type { Logger } from '../../../src/contract/core/logger.ts';
import type { BlobStore } from '../../../src/contract/stores/blob-store.ts';
import type { VideoStore } from '../../../src/contract/stores/video-store.ts';
import { prepareUploadFolder } from '../../../src/http/request/multipart.ts';
import type { IntervalTask } from '../../../src/kit/async/interval-task.ts';
import { hourlySweep } from '../../../src/kit/storage/hourly-sweep.ts';
import { listOldBlobIds } from '../../../src/kit/storage/old-blobs.ts';
import { deleteUnneededBlobs } from './blob-cleanup.ts';
import { removeAbandonedWork } from './work-folder.ts';

const VIDEOS = 'videos/';

export interface VideoSweepDeps {
  readonly videos: Pick<VideoStore, 'listStates'>;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly log: Logger;
  /** Folder for the files of requests and runs. */
  readonly folder: string;
}

/**
 * Hourly deletion of blobs of deleted or unfinished videos, blobs that finished jobs do not need, and files of requests
 * and runs whose process crashed.
 */
export function startVideoSweep(deps: VideoSweepDeps): IntervalTask {
  const { blobs, clock, log, folder } = deps;
  return hourlySweep({
    what: 'videos',
    blobs,
    log,
    sweep: async (signal) => ({
      uploads: await prepareUploadFolder(folder, clock),
      folders: await removeAbandonedWork(folder),
      blobs: await removeUnneeded(deps, signal),
    }),
  });
}

async function removeUnneeded(deps: VideoSweepDeps, signal: AbortSignal): Promise<number> {
  const { videos, blobs } = deps;
  let count = 0;
  for await (const ids of listOldBlobIds<Id<'video_'>>(deps, VIDEOS, signal)) {
    const states = new Map((await videos.listStates(ids)).map((state) => [state.id, state]));
    for (const id of ids) {
      signal.throwIfAborted();
      // A missing job needs no blobs, like a failed one.
      const state = states.get(id) ?? { id, status: 'failed' as const, runner: undefined };
      count += await deleteUnneededBlobs(blobs, state, signal);
    }
  }
  return count;
}
