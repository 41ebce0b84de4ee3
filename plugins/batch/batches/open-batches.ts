import type { Id } from '../../../src/contract/core/id.ts';
import type { BatchStore } from '../../../src/contract/stores/batch-store.ts';

/** Of one look into the store. */
const AT_ONCE = 100;

/** Batches of every organization that have not ended, the oldest first. */
export async function* openBatches(
  batches: Pick<BatchStore, 'open'>,
): AsyncGenerator<Id<'batch'>, void, undefined> {
  let after: Id<'batch'> | undefined;
  for (;;) {
    const page = await batches.open(AT_ONCE, after);
    yield* page;
    after = page.at(-1);
    if (page.length < AT_ONCE) return;
  }
}
