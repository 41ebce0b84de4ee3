import { expect, it } from 'vitest';
import { chunks } from './chunks.ts';

const rows = (count: number) => Array.from({ length: count }, (_, at) => at);

it('splits rows into chunks of the size, and the rest into powers of 2', () => {
  expect(chunks([], 64)).toEqual([]);
  expect(chunks(rows(3), 64)).toEqual([[0, 1], [2]]);
  expect(chunks(rows(64), 64)).toEqual([rows(64)]);
  expect(chunks(rows(164), 50).map(({ length }) => length)).toEqual([50, 50, 50, 8, 4, 2]);
  expect(chunks(rows(164), 50).flat()).toEqual(rows(164));
});

it('produces few different chunk lengths for all numbers of rows', () => {
  const lengths = rows(1000).flatMap((count) => chunks(rows(count), 64).map(({ length }) => length));
  expect(new Set(lengths)).toEqual(new Set([1, 2, 4, 8, 16, 32, 64]));
});
