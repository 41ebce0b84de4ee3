import type { Clock } from '../../../src/contract/core/clock.ts';
import { ServiceError } from '../../../src/contract/core/error.ts';
import type { Id } from '../../../src/contract/core/id.ts';
import type { Logger } from '../../../src/contract/core/logger.ts';
import type { BatchStore } from '../../../src/contract/stores/batch-store.ts';
import type { BlobStore } from '../../../src/contract/stores/blob-store.ts';
import { type FileStore, fileBlob, IDEMPOTENCY_KEY_S } from '../../../src/contract/stores/file-store.ts';
import type { IntervalTask } from '../../../src/kit/async/interval-task.ts';
import { unixSeconds } from '../../../src/kit/clock.ts';
import { hourlySweep } from '../../../src/kit/storage/hourly-sweep.ts';
import { listAll } from '../../../src/kit/storage/list-all.ts';
import { deleteOrphanedBlobs, listOldBlobIds } from '../../../src/kit/storage/old-blobs.ts';

/** Number of expired files per store query. */
const PAGE_SIZE = 500;
const FILES = 'files/';
const BATCHES = 'batches/';

export interface CleanupDeps {
  readonly files: FileStore;
  readonly batches: BatchStore;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Hourly deletion of expired files, old idempotency keys, and blobs of uploads and batches whose process crashed. */
export function scheduleFileCleanup(deps: CleanupDeps): IntervalTask {
  const { files, blobs, clock, log } = deps;
  return hourlySweep({
    what: 'files',
    blobs,
    log,
    async sweep(signal) {
      const now = unixSeconds(clock);
      return {
        expired: await removeExpired(deps, now, signal),
        files: await deleteOrphanedBlobs(deps, FILES, files.filterExisting, signal),
        parts: await removePartsOfFinishedBatches(deps, signal),
        keys: await files.deleteIdempotencyKeys(now - IDEMPOTENCY_KEY_S),
      };
    },
  });
}

async function removeExpired(
  { files, blobs }: CleanupDeps,
  now: number,
  signal: AbortSignal,
): Promise<number> {
  let count = 0;
  for (;;) {
    const expired = await files.listExpired(now, PAGE_SIZE);
    for (const { organization, id } of expired) {
      signal.throwIfAborted();
      try {
        await files.delete(organization, id, now);
      } catch (error) {
        // A batch that reads the file was created after the query.
        if (error instanceof ServiceError && error.kind === 'conflict') continue;
        throw error;
      }
      await blobs.delete(fileBlob(id));
      count += 1;
    }
    if (expired.length < PAGE_SIZE) return count;
  }
}

/** Deletes old blobs `batches/<id>/…` of finished batches. */
async function removePartsOfFinishedBatches(deps: CleanupDeps, signal: AbortSignal): Promise<number> {
  const { batches, blobs } = deps;
  let count = 0;
  for await (const ids of listOldBlobIds<Id<'batch_'>>(deps, BATCHES, signal)) {
    const finished = new Set(ids);
    for await (const id of listAll(batches.listOpen, signal)) finished.delete(id);
    for (const id of finished) count += await blobs.deleteAll(`${BATCHES}${id}/`, signal);
  }
  return count;
}
