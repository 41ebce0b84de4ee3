import { expect, it } from 'vitest';
import { clipFacts } from '../../../test/contract/video-store.cases.ts';
import { ClipTurns } from './clip-turns.ts';

const never = new AbortController().signal;

/** A reader whose work ends when a test says so; `begun` are its paths in their order. */
function slowReader() {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const work = async (path: string) => {
    begun.push(path);
    await new Promise<void>((end) => ends.push(end));
  };
  return {
    begun,
    endOne: () => ends.shift()?.(),
    measure: async (path: string) => {
      await work(path);
      return clipFacts();
    },
    thumbnail: work,
  };
}

it('reads two clips at once; organizations take turns, and thumbnails go first', async () => {
  const reader = slowReader();
  const turns = new ClipTurns(reader);
  const reading = [
    ...['a1', 'a2', 'a3', 'a4'].map((path) => turns.measure(path, 'a', never)),
    turns.measure('b1', 'b', never),
    turns.thumbnail('a5', 'to', 'a', never),
  ];
  for (let ended = 0; ended <= reading.length; ended += 1) {
    await expect.poll(() => reader.begun.length).toBe(Math.min(reading.length, ended + 2));
    reader.endOne();
  }
  await Promise.all(reading);
  expect(reader.begun).toEqual(['a1', 'a2', 'a5', 'a3', 'b1', 'a4']);
});

it('gives a turn back after a failure, and when who waits leaves', async () => {
  let fails = true;
  const turns = new ClipTurns({
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

it('refuses one that comes when too many wait', async () => {
  const reader = slowReader();
  const turns = new ClipTurns(reader);
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
