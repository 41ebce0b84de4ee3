import { expect, it } from 'vitest';
import { ThreadBackoff } from './thread-backoff.ts';

it('uses all threads while steps take as long as expected', () => {
  const backoff = new ThreadBackoff(4);
  expect(backoff.record(0, 34, 10)).toBe(true);
  expect(backoff.threads(34)).toBe(4);
});

it('uses one thread for half a second after a slow step', () => {
  const backoff = new ThreadBackoff(4);
  expect(backoff.record(0, 36, 10)).toBe(false);
  expect(backoff.threads(36)).toBe(1);
  expect(backoff.threads(535)).toBe(1);
  expect(backoff.threads(536)).toBe(4);
});

it('does not compare steps with one thread with the expectation', () => {
  const backoff = new ThreadBackoff(4);
  backoff.record(0, 1000, 10);
  expect(backoff.record(1000, 1400, 10)).toBe(false);
  expect(backoff.threads(1500)).toBe(4);
});
