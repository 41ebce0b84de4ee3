import { expect, test } from 'vitest';
import { UploadTurns } from './upload-turns.ts';

const NEVER = new AbortController().signal;

/** Turns whose pauses end when the test says so. */
function controlledTurns() {
  const pauses: { readonly ms: number; readonly end: () => void }[] = [];
  const turns = new UploadTurns((ms) => new Promise((end) => pauses.push({ ms, end })));
  return { turns, pauses };
}

test('a piece of 1 MiB takes the time that it needs at 128 MiB/s', async () => {
  const { turns, pauses } = controlledTurns();
  await turns.next('a', NEVER);
  expect(pauses.map(({ ms }) => ms)).toEqual([7.8125]);
});

test('API keys take turns, whatever the number of their uploads', async () => {
  const { turns, pauses } = controlledTurns();
  const order: string[] = [];
  const all = ['a1', 'a2', 'a3', 'b1'].map(async (name) => {
    await turns.next(name.slice(0, 1), NEVER);
    order.push(name);
  });
  for (let at = 0; at < all.length; at += 1) {
    await expect.poll(() => pauses.length).toBe(at + 1);
    pauses[at]?.end();
  }
  await Promise.all(all);
  expect(order).toEqual(['a1', 'a2', 'b1', 'a3']);
});

test('an upload that is cancelled while it waits leaves its turn to the others', async () => {
  const { turns, pauses } = controlledTurns();
  await turns.next('a', NEVER);
  const stop = new AbortController();
  const cancelled = turns.next('a', stop.signal);
  const next = turns.next('a', NEVER);
  stop.abort(new Error('disconnected'));
  await expect(cancelled).rejects.toThrow('disconnected');
  pauses[0]?.end();
  await next;
  expect(pauses).toHaveLength(2);
});
