import { expect, test } from 'vitest';
import { SampleBlocks } from './sample-blocks.ts';

test.each([[1], [3], [5], [12]])(
  'chunks of %d samples become blocks of five and a remainder',
  (runLength) => {
    const all = Float32Array.from({ length: 12 }, (_, i) => i);
    const blocks = new SampleBlocks(5);
    const given: number[][] = [];
    for (let at = 0; at < all.length; at += runLength) {
      for (const block of blocks.push(all.slice(at, at + runLength))) given.push([...block]);
    }
    expect(given).toEqual([
      [0, 1, 2, 3, 4],
      [5, 6, 7, 8, 9],
    ]);
    expect([...blocks.rest()]).toEqual([10, 11]);
    expect(blocks.taken).toBe(12);
  },
);

test('a returned block is not modified later', () => {
  const blocks = new SampleBlocks(2);
  const [first] = [...blocks.push(Float32Array.of(1, 2, 3))];
  blocks.push(Float32Array.of(4)).next();
  expect([...(first ?? [])]).toEqual([1, 2]);
});
