/** Names of the blobs that store the results of a running batch. */

import type { Id } from '../../../src/contract/core/id.ts';
import type { BatchPart } from '../../../src/contract/stores/batch-store.ts';

/** Common prefix of all result parts of a batch. */
export function partBlobPrefix(batch: Id<'batch_'>): string {
  return `batches/${batch}/`;
}

/**
 * Name of the blob of a result part.
 * @param runner unique per run, so that a stalled run cannot overwrite blobs of its successor.
 * @param sequence number of the checkpoint within the run.
 */
export function partBlob(
  batch: Id<'batch_'>,
  runner: string,
  sequence: number,
  kind: BatchPart['kind'],
): string {
  return `${partBlobPrefix(batch)}${runner}-${sequence}.${kind}.jsonl`;
}
