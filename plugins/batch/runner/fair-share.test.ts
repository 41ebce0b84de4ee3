import { expect, it } from 'vitest';
import { LineShares } from './fair-share.ts';

it('gives equal shares to organizations, and inside of them to batches', () => {
  const shares = new LineShares(64);
  const a1 = shares.join('a');
  expect(a1.limit).toBe(64);
  const b1 = shares.join('b');
  expect([a1.limit, b1.limit]).toEqual([32, 32]);
  const a2 = shares.join('a');
  expect([a1.limit, a2.limit, b1.limit]).toEqual([16, 16, 32]);
  a1.leave();
  a1.leave();
  expect([a2.limit, b1.limit]).toEqual([32, 32]);
  b1.leave();
  expect(a2.limit).toBe(64);
});

it('gives each batch at least one line', () => {
  const shares = new LineShares(2);
  const all = Array.from({ length: 5 }, () => shares.join('a'));
  expect(all.map(({ limit }) => limit)).toEqual([1, 1, 1, 1, 1]);
});

it('parts the bytes of lines in the same way', () => {
  const shares = new LineShares(64);
  const [a, b] = [shares.join('a'), shares.join('b')];
  const another = shares.join('b');
  expect([a.limitBytes, b.limitBytes, another.limitBytes]).toEqual([2 ** 23, 2 ** 22, 2 ** 22]);
  a.leave();
  another.leave();
  expect(b.limitBytes).toBe(2 ** 24);
});

it('is full when the lines of all batches are as many as may run', () => {
  const shares = new LineShares(2);
  const [a, b] = [shares.join('a'), shares.join('b')];
  const ends = [a.begin(), a.begin()];
  expect(b.isFull).toBe(true);
  ends[0]?.();
  expect([a.isFull, b.isFull]).toEqual([false, false]);
});
