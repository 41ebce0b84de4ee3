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
import { oldBlobs } from '../../../src/kit/storage/old-blobs.ts';
import { openBatches } from '../batches/open-batches.ts';

/** Expired files of one look into the store. */
const AT_ONCE = 500;
const FILES = 'files/';
const BATCHES = 'batches/';

export interface SweepParts {
  readonly files: FileStore;
  readonly batches: BatchStore;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Removes files that expired, what uploads and batches left whose process died, old idempotency keys. */
export function fileSweep(parts: SweepParts): IntervalTask {
  const { files, blobs, clock, log } = parts;
  return hourlySweep({
    what: 'files',
    log,
    async sweep(signal) {
      const now = unixSeconds(clock);
      return {
        expired: await removeExpired(parts, now, signal),
        files: await removeFilesWithoutRecord(parts, signal),
        parts: await removePartsOfEnded(parts, signal),
        keys: await files.forgetKeys(now - IDEMPOTENCY_KEY_S),
        unfinished: await blobs.removeUnfinished(signal),
      };
    },
  });
}

async function removeExpired(
  { files, blobs }: SweepParts,
  now: number,
  signal: AbortSignal,
): Promise<number> {
  let count = 0;
  for (;;) {
    const expired = await files.expired(now, AT_ONCE);
    for (const { organization, id } of expired) {
      signal.throwIfAborted();
      try {
        await files.delete(organization, id, now);
      } catch (error) {
        // A batch was made with it at the last moment.
        if (error instanceof ServiceError && error.kind === 'conflict') continue;
        throw error;
      }
      await blobs.delete(fileBlob(id));
      count += 1;
    }
    if (expired.length < AT_ONCE) return count;
  }
}

async function removeFilesWithoutRecord(parts: SweepParts, signal: AbortSignal): Promise<number> {
  const { files, blobs } = parts;
  const idOf = (name: string) => name.slice(FILES.length) as Id<'file'>;
  let count = 0;
  for await (const names of oldBlobs(parts, FILES, signal)) {
    const known = await files.known(names.map(idOf));
    for (const name of names) {
      if (known.has(idOf(name))) continue;
      signal.throwIfAborted();
      if (await blobs.delete(name)) count += 1;
    }
  }
  return count;
}

/** All of batches that have ended, of what is named `batches/<id>/…`. */
async function removePartsOfEnded(parts: SweepParts, signal: AbortSignal): Promise<number> {
  const { batches, blobs } = parts;
  let count = 0;
  for await (const names of oldBlobs(parts, BATCHES, signal)) {
    const ended = new Set(names.map((name) => name.split('/')[1] ?? ''));
    for await (const id of openBatches(batches)) ended.delete(id);
    for (const id of ended) count += await blobs.deleteAll(`${BATCHES}${id}/`, signal);
  }
  return count;
}
