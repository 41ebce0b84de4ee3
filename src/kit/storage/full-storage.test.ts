import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { STORAGE_PLACES, type StoragePlace } from '../../contract/stores/storage-health.ts';
import { FullStorage } from './full-storage.ts';

const FULL = Object.assign(new Error('full'), { code: '53100' });

function setUp(local: readonly StoragePlace[], freeBytes?: number) {
  const clock = new ManualClock();
  let free = freeBytes;
  const storage = new FullStorage({ local: new Set(local), clock, readFreeBytes: async () => free });
  onTestFinished(() => storage.close());
  return {
    clock,
    storage,
    async setFree(bytes: number) {
      free = bytes;
      await storage.check();
    },
    full: () => STORAGE_PLACES.filter((place) => storage.isFull(place)),
  };
}

test('local stores are full while their disk has less than 1 MiB of free space', async () => {
  const { setFree, full } = setUp(['database', 'data_dir'], 2 ** 30);
  expect(full()).toEqual([]);
  await setFree(2 ** 20 - 1);
  expect(full()).toEqual(['database', 'data_dir']);
  await setFree(2 ** 20);
  expect(full()).toEqual([]);
});

test('a store is full for 30 s after an operation failed for that reason', () => {
  const { clock, storage, full } = setUp([]);
  storage.recordFailure('database', new Error('timeout'));
  expect(full()).toEqual([]);
  storage.recordFailure('database', FULL);
  clock.advance(20_000);
  expect(full()).toEqual(['database']);
  storage.recordFailure('database', FULL);
  clock.advance(29_999);
  expect(full()).toEqual(['database']);
  clock.advance(1);
  expect(full()).toEqual([]);
});

test('unknown free space is not full', async () => {
  const { storage, full } = setUp(['database', 'blobs', 'data_dir']);
  await storage.check();
  expect(full()).toEqual([]);
});
