/** Result files of a batch: its parts, one after the other. */

import type { BatchFiles, BatchPart, BatchRecord, BatchStore } from '../../src/contract/batch-store.ts';
import type { BlobStore } from '../../src/contract/blob-store.ts';
import type { Clock } from '../../src/contract/clock.ts';
import { type FileRecord, fileBlob } from '../../src/contract/file-store.ts';
import { newId } from '../../src/contract/id.ts';
import { unixSeconds } from '../../src/kit/clock.ts';

export interface ResultFilesParts {
  readonly batches: BatchStore;
  readonly blobs: BlobStore;
  readonly clock: Clock;
}

/**
 * Stores the bytes of both files. Their records are for {@link BatchStore.end} to note; until then nobody sees them.
 * @throws what the stores throw; the signal's reason.
 */
export async function storeResultFiles(
  { batches, blobs, clock }: ResultFilesParts,
  batch: BatchRecord,
  signal: AbortSignal,
): Promise<BatchFiles> {
  const parts = await batches.parts(batch.id);
  const files: { [Kind in BatchPart['kind']]?: FileRecord } = {};
  for (const kind of ['output', 'error'] as const) {
    const own = parts.filter((part) => part.kind === kind);
    if (own.length === 0) continue;
    const id = newId('file');
    const facts = await blobs.write(fileBlob(id), bytesOf(blobs, own, signal), signal);
    const createdAt = unixSeconds(clock);
    const { organization, outputExpiresAfterS: expiresAfterS } = batch;
    files[kind] = {
      ...{ id, organization, createdAt, ...facts },
      purpose: 'batch_output',
      filename: `${batch.id}_${kind}.jsonl`,
      expiresAt: expiresAfterS === undefined ? undefined : createdAt + expiresAfterS,
    };
  }
  return files;
}

/** Deletes files that were stored for a batch which another runner has. */
export async function dropResultFiles(blobs: BlobStore, { output, error }: BatchFiles): Promise<void> {
  for (const file of [output, error]) if (file !== undefined) await blobs.delete(fileBlob(file.id));
}

async function* bytesOf(
  blobs: BlobStore,
  parts: readonly BatchPart[],
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  for (const { blob } of parts) {
    const bytes = await blobs.read(blob, signal);
    if (bytes === undefined) throw new Error('a part of a batch is gone');
    yield* bytes;
  }
}
