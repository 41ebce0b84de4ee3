import type { Id } from '../../../src/contract/core/id.ts';
import type { BatchStore } from '../../../src/contract/stores/batch-store.ts';

/** Number of batches per store query. */
const PAGE_SIZE = 100;

/** Yields the ids of all unfinished batches of all organizations, oldest first. */
export async function* openBatches(
  batches: Pick<BatchStore, 'listOpen'>,
): AsyncGenerator<Id<'batch'>, void, undefined> {
  let after: Id<'batch'> | undefined;
  for (;;) {
    const page = await batches.listOpen(PAGE_SIZE, after);
    yield* page;
    after = page.at(-1);
    if (page.length < PAGE_SIZE) return;
  }
}
