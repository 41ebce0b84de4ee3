/** Result files of a batch: its parts, one after the other. */

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

export interface ResultFilesParts {
  readonly batches: BatchStore;
  readonly blobs: BlobStore;
  readonly clock: Clock;
}

export interface ResultFiles {
  readonly files: BatchFiles;
  /** Parts that are not there any more, and are left out. */
  readonly lostParts: number;
}

/**
 * Stores the bytes of both files. Their records are for {@link BatchStore.end} to note; until then nobody sees them.
 * @throws what the stores throw, the signal's reason: then nothing of them is left that can be deleted.
 */
export async function storeResultFiles(
  { batches, blobs, clock }: ResultFilesParts,
  batch: BatchRecord,
  signal: AbortSignal,
): Promise<ResultFiles> {
  const parts = await batches.parts(batch.id);
  const files: { [Kind in BatchPart['kind']]?: FileRecord } = {};
  let lostParts = 0;
  const lost = () => {
    lostParts += 1;
  };
  try {
    for (const kind of ['output', 'error'] as const) {
      const own = parts.filter((part) => part.kind === kind);
      if (own.length === 0) continue;
      const id = newId('file');
      const facts = await blobs.write(fileBlob(id), bytesOf(blobs, own, signal, lost), signal);
      if (facts.lengthBytes === 0) {
        await blobs.delete(fileBlob(id));
        continue;
      }
      const createdAt = unixSeconds(clock);
      const { organization, outputExpiresAfterS: expiresAfterS } = batch;
      files[kind] = {
        ...{ id, organization, createdAt, ...facts },
        purpose: 'batch_output',
        filename: `${batch.id}_${kind}.jsonl`,
        expiresAt: expiresAfterS === undefined ? undefined : createdAt + expiresAfterS,
      };
    }
  } catch (error) {
    // A store that is away keeps them, until a sweep finds that nobody names them.
    await dropResultFiles(blobs, files).catch(() => undefined);
    throw error;
  }
  return { files, lostParts };
}

/** Deletes files that no batch will have. */
export async function dropResultFiles(blobs: BlobStore, { output, error }: BatchFiles): Promise<void> {
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
