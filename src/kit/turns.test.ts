import { expect, it } from 'vitest';
import { Turns } from './turns.ts';

const never = new AbortController().signal;

/** Lets everything run that waits for nothing. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

it('lets so many work at once, and the others in their order', async () => {
  const turns = new Turns(2, 10);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const all = [0, 1, 2, 3].map(async (which) => {
    const end = await turns.take(never);
    begun.push(which);
    ends.push(end);
  });
  await settle();
  expect(begun).toEqual([0, 1]);
  ends[1]?.();
  await settle();
  expect(begun).toEqual([0, 1, 2]);
  ends[0]?.();
  await Promise.all(all);
  expect(begun).toEqual([0, 1, 2, 3]);
  for (const end of ends.slice(2)) end();
  // Both places are free again, and no more than both.
  await Promise.all([turns.take(never), turns.take(never)]);
  const third = turns.take(never).then(() => 'began');
  expect(await Promise.race([third, settle().then(() => 'waits')])).toBe('waits');
});

it('forgets one that leaves while it waits', async () => {
  const turns = new Turns(1, 10);
  const end = await turns.take(never);
  const controller = new AbortController();
  const reason = new Error('gone');
  const leaver = turns.take(controller.signal);
  const stayer = turns.take(never);
  controller.abort(reason);
  await expect(leaver).rejects.toBe(reason);
  end();
  (await stayer)();
  await expect(turns.take(controller.signal)).rejects.toBe(reason);
  await turns.take(never);
});

it('refuses one more than may wait', async () => {
  const turns = new Turns(1, 1);
  await turns.take(never);
  const waiting = turns.take(never);
  waiting.catch(() => undefined);
  await expect(turns.take(never)).rejects.toMatchObject({ kind: 'overloaded', retryAfterS: 2 });
});
