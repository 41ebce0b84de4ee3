import { expect, it } from 'vitest';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { deleteOrphanedBlobs, listOldBlobIds } from './old-blobs.ts';

const DAY_S = 86_400;
const never = new AbortController().signal;

/** Blobs by name, with their age in seconds. */
function storeOf(ages: Readonly<Record<string, number>>) {
  const clock = new ManualClock();
  const now = Math.floor(clock.now() / 1000);
  const names = new Set(Object.keys(ages));
  const blobs = {
    async *list(prefix: string) {
      for (const [name, age] of Object.entries(ages)) {
        if (name.startsWith(prefix)) yield { name, changedAt: now - age };
      }
    },
    delete: async (name: string) => names.delete(name),
  };
  return { clock, blobs, names };
}

it('lists the ids of blobs that are older than a day', async () => {
  const ages = {
    'a/old': DAY_S,
    'a/young': DAY_S - 1,
    'b/old': DAY_S,
    'a/two/1': DAY_S,
    'a/two/2': DAY_S + 1,
  };
  expect(await Array.fromAsync(listOldBlobIds(storeOf(ages), 'a/', never))).toEqual([['old', 'two']]);
  expect(await Array.fromAsync(listOldBlobIds(storeOf({}), 'a/', never))).toEqual([]);
});

it('lists at most 500 ids per page', async () => {
  const ages = Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [`a/${at}`, DAY_S]));
  const pages = await Array.fromAsync(listOldBlobIds(storeOf(ages), 'a/', never));
  expect(pages.map(({ length }) => length)).toEqual([500, 500, 1]);
  expect(new Set(pages.flat()).size).toBe(1001);
});

it('deletes old blobs without a record', async () => {
  const store = storeOf({ 'a/known': DAY_S, 'a/lost': DAY_S, 'a/young': 0, 'b/lost': DAY_S });
  const count = await deleteOrphanedBlobs(store, 'a/', async () => new Set(['known']), never);
  expect(count).toBe(1);
  expect([...store.names]).toEqual(['a/known', 'a/young', 'b/lost']);
});

it('does not count blobs that another process has deleted', async () => {
  const store = storeOf({ 'a/lost': DAY_S });
  store.names.clear();
  expect(await deleteOrphanedBlobs(store, 'a/', async () => new Set<string>(), never)).toBe(0);
});

it('stops between two blobs after an abort', async () => {
  const store = storeOf({ 'a/1': DAY_S, 'a/2': DAY_S });
  const abort = new AbortController();
  const { delete: remove } = store.blobs;
  store.blobs.delete = (name) => {
    abort.abort(new Error('closed'));
    return remove(name);
  };
  const deletion = deleteOrphanedBlobs(store, 'a/', async () => new Set<string>(), abort.signal);
  await expect(deletion).rejects.toThrow('closed');
  expect([...store.names]).toEqual(['a/2']);
});
