import type { Clock } from '../../../src/contract/core/clock.ts';
import type { Logger } from '../../../src/contract/core/logger.ts';
import type { BlobStore } from '../../../src/contract/stores/blob-store.ts';
import type { VoiceStore } from '../../../src/contract/stores/voice-store.ts';
import { prepareUploadFolder } from '../../../src/http/request/multipart.ts';
import type { IntervalTask } from '../../../src/kit/async/interval-task.ts';
import { hourlySweep } from '../../../src/kit/storage/hourly-sweep.ts';
import { deleteOrphanedBlobs } from '../../../src/kit/storage/old-blobs.ts';

const CLIPS = 'voices/';

export interface ClipCleanupDeps {
  readonly voices: Pick<VoiceStore, 'filterExisting'>;
  readonly blobs: Pick<BlobStore, 'list' | 'delete' | 'removeUnfinished'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Folder for uploads. */
  readonly uploads: string;
}

/** Hourly deletion of clips and uploads of crashed processes. */
export function startClipCleanup(deps: ClipCleanupDeps): IntervalTask {
  const { voices, blobs, clock, log, uploads } = deps;
  return hourlySweep({
    what: 'clips',
    blobs,
    log,
    sweep: async (signal) => ({
      uploads: await prepareUploadFolder(uploads, clock),
      clips: await deleteOrphanedBlobs(deps, CLIPS, voices.filterExisting, signal),
    }),
  });
}
