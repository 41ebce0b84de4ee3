import type { Clock } from '../../contract/core/clock.ts';
import type { BlobStore } from '../../contract/stores/blob-store.ts';
import { unixSeconds } from '../clock.ts';

/** A blob without a record that is younger may be of work that goes on. */
const ORPHAN_S = 86_400;
const AT_ONCE = 500;

/** Names of blobs that begin so and were written more than a day ago, at most 500 at once. */
export async function* listOldBlobs(
  { blobs, clock }: { readonly blobs: Pick<BlobStore, 'list'>; readonly clock: Clock },
  prefix: string,
  signal: AbortSignal,
): AsyncGenerator<string[], void, undefined> {
  const before = unixSeconds(clock) - ORPHAN_S;
  let names: string[] = [];
  for await (const { name, changedAt } of blobs.list(prefix, signal)) {
    if (changedAt > before) continue;
    names.push(name);
    if (names.length < AT_ONCE) continue;
    yield names;
    names = [];
  }
  if (names.length > 0) yield names;
}
