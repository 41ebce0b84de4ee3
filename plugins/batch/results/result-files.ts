/** Builds the result files of a batch by concatenating its parts. */

import type { Clock } from '../../../src/contract/core/clock.ts';
import { newId } from '../../../src/contract/core/id.ts';
import type {
  BatchFiles,
  BatchPart,
  BatchRecord,
  BatchStore,
} from '../../../src/contract/stores/batch-store.ts';
import type { BlobStore } from '../../../src/contract/stores/blob-store.ts';
import { type FileRecord, fileBlob } from '../../../src/contract/stores/file-store.ts';
import { unixSeconds } from '../../../src/kit/clock.ts';

export interface ResultFilesDeps {
  readonly batches: BatchStore;
  readonly blobs: BlobStore;
  readonly clock: Clock;
}

export interface ResultFiles {
  readonly files: BatchFiles;
  /** Number of missing parts, which the files do not include. */
  readonly lostParts: number;
}

/**
 * Stores the bytes of both files. {@link BatchStore.finish} adds their records; until then they are not visible.
 * @throws the errors of the stores, the reason of the signal. Blobs written so far are then deleted if possible.
 */
export async function storeResultFiles(
  { batches, blobs, clock }: ResultFilesDeps,
  batch: BatchRecord,
  signal: AbortSignal,
): Promise<ResultFiles> {
  const parts = await batches.listParts(batch.id);
  const files: { [Kind in BatchPart['kind']]?: FileRecord } = {};
  let lostParts = 0;
  const lost = () => {
    lostParts += 1;
  };
  try {
    for (const kind of ['output', 'error'] as const) {
      const own = parts.filter((part) => part.kind === kind);
      if (own.length === 0) continue;
      const id = newId('file-');
      const facts = await blobs.write(fileBlob(id), bytesOf(blobs, own, signal, lost), signal);
      if (facts.lengthBytes === 0) {
        await blobs.delete(fileBlob(id));
        continue;
      }
      const createdAt = unixSeconds(clock);
      const { organization, outputExpiresAfterS: expiresAfterS } = batch;
      files[kind] = {
        id,
        organization,
        createdAt,
        ...facts,
        purpose: 'batch_output',
        filename: `${batch.id}_${kind}.jsonl`,
        expiresAt: expiresAfterS === undefined ? undefined : createdAt + expiresAfterS,
      };
    }
  } catch (error) {
    // If the store is unavailable, the cleanup deletes the blobs later because they have no record.
    await deleteResultFiles(blobs, files).catch(() => undefined);
    throw error;
  }
  return { files, lostParts };
}

/** Deletes the blobs of result files that no batch references. */
export async function deleteResultFiles(blobs: BlobStore, { output, error }: BatchFiles): Promise<void> {
  for (const file of [output, error]) if (file !== undefined) await blobs.delete(fileBlob(file.id));
}

async function* bytesOf(
  blobs: BlobStore,
  parts: readonly BatchPart[],
  signal: AbortSignal,
  lost: () => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  for (const { blob } of parts) {
    const bytes = await blobs.read(blob, signal);
    if (bytes === undefined) lost();
    else yield* bytes;
  }
}
