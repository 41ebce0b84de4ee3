import type { Clock } from '../../contract/core/clock.ts';
import type { BlobStore } from '../../contract/stores/blob-store.ts';
import { unixSeconds } from '../clock.ts';

/** Minimum age of orphaned blobs, in seconds; younger ones can belong to work in progress. */
const MIN_AGE_S = 86_400;
const PAGE_SIZE = 500;

interface OldBlobDeps {
  readonly blobs: Pick<BlobStore, 'list'>;
  readonly clock: Clock;
}

/**
 * Yields the ids in the names `<prefix><id>` and `<prefix><id>/…` of blobs that were written more than a day ago, in
 * pages of at most 500. An id is unique within its page.
 */
export async function* listOldBlobIds<Id extends string>(
  { blobs, clock }: OldBlobDeps,
  prefix: string,
  signal: AbortSignal,
): AsyncGenerator<readonly Id[], void, undefined> {
  const before = unixSeconds(clock) - MIN_AGE_S;
  let ids = new Set<Id>();
  for await (const { name, changedAt } of blobs.list(prefix, signal)) {
    if (changedAt > before) continue;
    ids.add(name.slice(prefix.length).split('/', 1)[0] as Id);
    if (ids.size < PAGE_SIZE) continue;
    yield [...ids];
    ids = new Set();
  }
  if (ids.size > 0) yield [...ids];
}

/**
 * Deletes blobs `<prefix><id>` that are older than a day and whose id has no record. Returns their number.
 * @param filterExisting returns the ids that have a record.
 */
export async function deleteOrphanedBlobs<Id extends string>(
  deps: OldBlobDeps & { readonly blobs: Pick<BlobStore, 'list' | 'delete'> },
  prefix: string,
  filterExisting: (ids: readonly Id[]) => Promise<ReadonlySet<Id>>,
  signal: AbortSignal,
): Promise<number> {
  let count = 0;
  for await (const ids of listOldBlobIds<Id>(deps, prefix, signal)) {
    const known = await filterExisting(ids);
    for (const id of ids) {
      if (known.has(id)) continue;
      signal.throwIfAborted();
      if (await deps.blobs.delete(`${prefix}${id}`)) count += 1;
    }
  }
  return count;
}
