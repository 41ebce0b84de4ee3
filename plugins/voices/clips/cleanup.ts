import type { Clock } from '../../../src/contract/core/clock.ts';
import type { Id } from '../../../src/contract/core/id.ts';
import type { Logger } from '../../../src/contract/core/logger.ts';
import type { BlobStore } from '../../../src/contract/stores/blob-store.ts';
import type { VoiceStore } from '../../../src/contract/stores/voice-store.ts';
import { prepareUploadFolder } from '../../../src/http/request/multipart.ts';
import type { IntervalTask } from '../../../src/kit/async/interval-task.ts';
import { hourlySweep } from '../../../src/kit/storage/hourly-sweep.ts';
import { listOldBlobs } from '../../../src/kit/storage/list-old-blobs.ts';

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
  const { blobs, clock, log, uploads } = deps;
  return hourlySweep({
    what: 'clips',
    log,
    sweep: async (signal) => ({
      uploads: await prepareUploadFolder(uploads, clock),
      clips: await removeOrphans(deps, signal),
      unfinished: await blobs.removeUnfinished(signal),
    }),
  });
}

async function removeOrphans(deps: ClipCleanupDeps, signal: AbortSignal): Promise<number> {
  const { voices, blobs } = deps;
  let count = 0;
  for await (const names of listOldBlobs(deps, CLIPS, signal)) {
    const idOf = (name: string) => name.slice(CLIPS.length) as Id<'voice'>;
    const known = await voices.filterExisting(names.map(idOf));
    for (const name of names) {
      if (known.has(idOf(name))) continue;
      signal.throwIfAborted();
      if (await blobs.delete(name)) count += 1;
    }
  }
  return count;
}
