import type { BlobStore } from '../../src/contract/blob-store.ts';
import type { Clock } from '../../src/contract/clock.ts';
import type { Id } from '../../src/contract/id.ts';
import type { Logger } from '../../src/contract/logger.ts';
import type { VideoStore } from '../../src/contract/video-store.ts';
import { prepareUploadFolder } from '../../src/http/multipart.ts';
import { hourlySweep } from '../../src/kit/hourly-sweep.ts';
import { oldBlobs } from '../../src/kit/old-blobs.ts';
import type { RecurringWork } from '../../src/kit/recurring-work.ts';
import { tidyBlobs } from './video-tidying.ts';
import { removeAbandonedWork } from './work-folder.ts';

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
 * Removes blobs of videos that are deleted or were never made, those that ended jobs do not need, files of requests and
 * runs whose process died.
 */
export function videoSweep(parts: SweepParts): RecurringWork {
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
  for await (const names of oldBlobs(parts, VIDEOS, signal)) {
    const ids = [...new Set(names.map((name) => name.split('/')[1] as Id<'video'>))];
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
