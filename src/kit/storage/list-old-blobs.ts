import type { Clock } from '../../contract/core/clock.ts';
import type { BlobStore } from '../../contract/stores/blob-store.ts';
import { unixSeconds } from '../clock.ts';

/** Minimum age of orphaned blobs, in seconds; younger ones can belong to work in progress. */
const MIN_AGE_S = 86_400;
const PAGE_SIZE = 500;

/** Yields the names of blobs with a prefix that were written more than a day ago, in pages of at most 500. */
export async function* listOldBlobs(
  { blobs, clock }: { readonly blobs: Pick<BlobStore, 'list'>; readonly clock: Clock },
  prefix: string,
  signal: AbortSignal,
): AsyncGenerator<string[], void, undefined> {
  const before = unixSeconds(clock) - MIN_AGE_S;
  let names: string[] = [];
  for await (const { name, changedAt } of blobs.list(prefix, signal)) {
    if (changedAt > before) continue;
    names.push(name);
    if (names.length < PAGE_SIZE) continue;
    yield names;
    names = [];
  }
  if (names.length > 0) yield names;
}
