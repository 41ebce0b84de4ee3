import { expect, it } from 'vitest';
import { FairSemaphore, type FairSemaphoreLimits } from './fair-semaphore.ts';

const never = new AbortController().signal;
const LIMITS: FairSemaphoreLimits = { maxConcurrent: 2, maxConcurrentPerKey: 2, maxQueued: 10 };

/** Lets everything run that waits for nothing. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** Takes turns for owners and notes the order in which they begin. */
function scene(limits: Partial<FairSemaphoreLimits> = {}) {
  const turns = new FairSemaphore({ ...LIMITS, ...limits });
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  return {
    turns,
    begun,
    async ask(...names: string[]) {
      for (const name of names) {
        // The owner is the letter that a name begins with.
        void turns.acquire(name[0] ?? '', never).then((end) => {
          begun.push(name);
          ends.push(end);
        });
      }
      await settle();
    },
    /** Ends the turn that is the oldest. */
    async end() {
      ends.shift()?.();
      await settle();
    },
  };
}

it('lets so many work at once, and the others in their order', async () => {
  const { ask, end, begun } = scene();
  await ask('a1', 'a2', 'a3', 'a4');
  expect(begun).toEqual(['a1', 'a2']);
  await end();
  expect(begun).toEqual(['a1', 'a2', 'a3']);
  await end();
  await end();
  await end();
  await ask('a5', 'a6', 'a7');
  expect(begun).toEqual(['a1', 'a2', 'a3', 'a4', 'a5', 'a6']);
});

it('owners take turns, however much one of them asks for', async () => {
  const { ask, end, begun } = scene({ maxConcurrent: 1 });
  await ask('a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1');
  for (let turn = 0; turn < 6; turn += 1) await end();
  expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
});

it('keeps room for others', async () => {
  const { ask, end, begun } = scene({ maxConcurrent: 3, maxConcurrentPerKey: 2 });
  await ask('a1', 'a2', 'a3', 'b1');
  expect(begun).toEqual(['a1', 'a2', 'b1']);
  await end();
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3']);
});

it('forgets one that leaves while it waits', async () => {
  const { turns, ask, end, begun } = scene({ maxConcurrent: 1 });
  await ask('a1');
  const controller = new AbortController();
  const reason = new Error('gone');
  const leaver = turns.acquire('b', controller.signal);
  await ask('c1');
  controller.abort(reason);
  await expect(leaver).rejects.toBe(reason);
  await end();
  expect(begun).toEqual(['a1', 'c1']);
  await expect(turns.acquire('a', controller.signal)).rejects.toBe(reason);
});

it('refuses one more than may wait', async () => {
  const { turns, ask } = scene({ maxQueued: 2 });
  await ask('a1', 'a2', 'a3', 'b1');
  await expect(turns.acquire('c', never)).rejects.toMatchObject({ kind: 'overloaded', retryAfterS: 2 });
});

it('keeps room to wait for others', async () => {
  const { turns, ask, end, begun } = scene({ maxConcurrent: 1, maxQueued: 4, maxQueuedPerKey: 2 });
  await ask('a1', 'a2', 'a3', 'b1');
  await expect(turns.acquire('a', never)).rejects.toMatchObject({ kind: 'rate_limited', retryAfterS: 2 });
  await end();
  expect(begun).toEqual(['a1', 'a2']);
  await ask('a4', 'c1');
  await end();
  expect(begun).toEqual(['a1', 'a2', 'b1']);
});

it('lets a lower rank go first, and owners take turns within one', async () => {
  const turns = new FairSemaphore({ ...LIMITS, maxConcurrent: 1 });
  const begun: string[] = [];
  const end = await turns.acquire('a', never);
  for (const [name, rank] of [
    ['a1', 2],
    ['a2', 1],
    ['a3', 1],
    ['b1', 1],
    ['c1', 0],
  ] as const) {
    void turns.acquire(name[0] ?? '', never, rank).then((next) => {
      begun.push(name);
      next();
    });
  }
  end();
  await settle();
  expect(begun).toEqual(['c1', 'a2', 'b1', 'a3', 'a1']);
});
