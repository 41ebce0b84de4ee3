import { expect, it } from 'vitest';
import { FairSemaphore, type FairSemaphoreLimits } from './fair-semaphore.ts';

const never = new AbortController().signal;
const LIMITS: FairSemaphoreLimits = { maxConcurrent: 2, maxConcurrentPerKey: 2, maxQueued: 10 };

/** Runs all pending microtasks and immediates. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** Acquires permits and records the order in which they are granted. */
function scene(limits: Partial<FairSemaphoreLimits> = {}) {
  const semaphore = new FairSemaphore({ ...LIMITS, ...limits });
  const granted: string[] = [];
  const releases: (() => void)[] = [];
  return {
    semaphore,
    granted,
    async acquire(...names: string[]) {
      for (const name of names) {
        // The key is the first letter of the name.
        void semaphore.acquire(name[0] ?? '', never).then((release) => {
          granted.push(name);
          releases.push(release);
        });
      }
      await settle();
    },
    /** Releases the oldest permit. */
    async releaseOldest() {
      releases.shift()?.();
      await settle();
    },
  };
}

it('grants permits up to the limit, then in FIFO order', async () => {
  const { acquire, releaseOldest, granted } = scene();
  await acquire('a1', 'a2', 'a3', 'a4');
  expect(granted).toEqual(['a1', 'a2']);
  await releaseOldest();
  expect(granted).toEqual(['a1', 'a2', 'a3']);
  await releaseOldest();
  await releaseOldest();
  await releaseOldest();
  await acquire('a5', 'a6', 'a7');
  expect(granted).toEqual(['a1', 'a2', 'a3', 'a4', 'a5', 'a6']);
});

it('serves keys round-robin, regardless of the number of requests per key', async () => {
  const { acquire, releaseOldest, granted } = scene({ maxConcurrent: 1 });
  await acquire('a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1');
  for (let turn = 0; turn < 6; turn += 1) await releaseOldest();
  expect(granted).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
});

it('limits the permits per key', async () => {
  const { acquire, releaseOldest, granted } = scene({ maxConcurrent: 3, maxConcurrentPerKey: 2 });
  await acquire('a1', 'a2', 'a3', 'b1');
  expect(granted).toEqual(['a1', 'a2', 'b1']);
  await releaseOldest();
  expect(granted).toEqual(['a1', 'a2', 'b1', 'a3']);
});

it('removes a waiting caller on abort', async () => {
  const { semaphore, acquire, releaseOldest, granted } = scene({ maxConcurrent: 1 });
  await acquire('a1');
  const controller = new AbortController();
  const reason = new Error('gone');
  const leaver = semaphore.acquire('b', controller.signal);
  await acquire('c1');
  controller.abort(reason);
  await expect(leaver).rejects.toBe(reason);
  await releaseOldest();
  expect(granted).toEqual(['a1', 'c1']);
  await expect(semaphore.acquire('a', controller.signal)).rejects.toBe(reason);
});

it('rejects callers beyond the queue limit', async () => {
  const { semaphore, acquire } = scene({ maxQueued: 2 });
  await acquire('a1', 'a2', 'a3', 'b1');
  await expect(semaphore.acquire('c', never)).rejects.toMatchObject({ kind: 'overloaded', retryAfterS: 2 });
});

it('limits the waiting callers per key', async () => {
  const { semaphore, acquire, releaseOldest, granted } = scene({
    maxConcurrent: 1,
    maxQueued: 4,
    maxQueuedPerKey: 2,
  });
  await acquire('a1', 'a2', 'a3', 'b1');
  await expect(semaphore.acquire('a', never)).rejects.toMatchObject({ kind: 'rate_limited', retryAfterS: 2 });
  await releaseOldest();
  expect(granted).toEqual(['a1', 'a2']);
  await acquire('a4', 'c1');
  await releaseOldest();
  expect(granted).toEqual(['a1', 'a2', 'b1']);
});

it('serves lower ranks first, and keys round-robin within a rank', async () => {
  const semaphore = new FairSemaphore({ ...LIMITS, maxConcurrent: 1 });
  const granted: string[] = [];
  const release = await semaphore.acquire('a', never);
  for (const [name, rank] of [
    ['a1', 2],
    ['a2', 1],
    ['a3', 1],
    ['b1', 1],
    ['c1', 0],
  ] as const) {
    void semaphore.acquire(name[0] ?? '', never, rank).then((next) => {
      granted.push(name);
      next();
    });
  }
  release();
  await settle();
  expect(granted).toEqual(['c1', 'a2', 'b1', 'a3', 'a1']);
});
