/** Names of the blobs that a batch has while it runs. */

import type { Id } from '../../../src/contract/core/id.ts';
import type { BatchPart } from '../../../src/contract/stores/batch-store.ts';

/** Begins the names of all parts of a batch, and of no other's. */
export function partsPrefix(batch: Id<'batch'>): string {
  return `batches/${batch}/`;
}

/**
 * The blob of a part.
 * @param runner a name that no other run has, so that a run that was taken for dead overwrites nothing.
 * @param place of the checkpoint in the run.
 */
export function partBlob(batch: Id<'batch'>, runner: string, place: number, kind: BatchPart['kind']): string {
  return `${partsPrefix(batch)}${runner}-${place}.${kind}.jsonl`;
}
