import { expect, it } from 'vitest';
import { FairShares } from './fair-share.ts';

it('gives equal shares to organizations, divided equally among their batches', () => {
  const shares = new FairShares(64);
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
  const shares = new FairShares(2);
  const all = Array.from({ length: 5 }, () => shares.join('a'));
  expect(all.map(({ limit }) => limit)).toEqual([1, 1, 1, 1, 1]);
});

it('divides the bytes of lines in the same way', () => {
  const shares = new FairShares(64);
  const [a, b] = [shares.join('a'), shares.join('b')];
  const another = shares.join('b');
  expect([a.limitBytes, b.limitBytes, another.limitBytes]).toEqual([2 ** 23, 2 ** 22, 2 ** 22]);
  a.leave();
  another.leave();
  expect(b.limitBytes).toBe(2 ** 24);
});

it('is full when all batches together run the maximum number of lines', () => {
  const shares = new FairShares(2);
  const [a, b] = [shares.join('a'), shares.join('b')];
  const ends = [a.startLine(), a.startLine()];
  expect(b.isFull).toBe(true);
  ends[0]?.();
  expect([a.isFull, b.isFull]).toEqual([false, false]);
});
