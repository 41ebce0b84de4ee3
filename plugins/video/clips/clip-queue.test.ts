import { expect, it } from 'vitest';
import { clipFacts } from '../../../test/contract/video-store.cases.ts';
import { ClipQueue } from './clip-queue.ts';

const never = new AbortController().signal;

/** A reader whose work finishes when a test says so. `started` are the paths in start order. */
function slowReader() {
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const work = async (path: string) => {
    started.push(path);
    await new Promise<void>((end) => ends.push(end));
  };
  return {
    started,
    endOne: () => ends.shift()?.(),
    measure: async (path: string) => {
      await work(path);
      return clipFacts();
    },
    thumbnail: work,
  };
}

it('reads two clips concurrently, alternates between organizations and prefers thumbnails', async () => {
  const reader = slowReader();
  const turns = new ClipQueue(reader);
  const reading = [
    ...['a1', 'a2', 'a3', 'a4'].map((path) => turns.measure(path, 'a', never)),
    turns.measure('b1', 'b', never),
    turns.thumbnail('a5', 'to', 'a', never),
  ];
  for (let ended = 0; ended <= reading.length; ended += 1) {
    await expect.poll(() => reader.started.length).toBe(Math.min(reading.length, ended + 2));
    reader.endOne();
  }
  await Promise.all(reading);
  expect(reader.started).toEqual(['a1', 'a2', 'a5', 'a3', 'b1', 'a4']);
});

it('releases a slot after a failure and when a queued read is aborted', async () => {
  let fails = true;
  const turns = new ClipQueue({
    measure: async () => {
      if (fails) throw new Error('broken');
      return clipFacts();
    },
    thumbnail: async () => undefined,
  });
  for (let round = 0; round < 3; round += 1) {
    await expect(turns.measure('a', 'a', never)).rejects.toThrow('broken');
  }
  fails = false;
  expect(await turns.measure('a', 'a', never)).toEqual(clipFacts());
});

it('rejects a read when the queue is full', async () => {
  const reader = slowReader();
  const turns = new ClipQueue(reader);
  const leaving = new AbortController();
  const waiting = Array.from({ length: 130 }, () =>
    turns.measure('a', 'a', leaving.signal).catch(() => undefined),
  );
  await expect(turns.measure('a', 'a', never)).rejects.toMatchObject({ kind: 'overloaded' });
  leaving.abort();
  reader.endOne();
  reader.endOne();
  await Promise.all(waiting);
});
