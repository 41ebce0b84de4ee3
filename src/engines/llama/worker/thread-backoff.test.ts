import { expect, it } from 'vitest';
import { ThreadBackoff } from './thread-backoff.ts';

it('uses all threads while steps take as long as expected', () => {
  const backoff = new ThreadBackoff(4);
  expect(backoff.record(0, 34, 10)).toBe(true);
  expect(backoff.threads(34)).toBe(4);
});

it('uses one thread for 50 ms after a slow step', () => {
  const backoff = new ThreadBackoff(4);
  expect(backoff.record(0, 36, 10)).toBe(false);
  expect(backoff.threads(36)).toBe(1);
  expect(backoff.threads(85)).toBe(1);
  expect(backoff.threads(86)).toBe(4);
});

it('doubles the time after each further slow step, up to 800 ms, and halves it after a fast one', () => {
  const backoff = new ThreadBackoff(4);
  let nowMs = 0;
  const slowStepMs = () => {
    backoff.record(nowMs, nowMs + 1000, 10);
    nowMs += 1000;
    const startMs = nowMs;
    while (backoff.threads(nowMs) === 1) nowMs += 1;
    return nowMs - startMs;
  };
  expect([1, 2, 3, 4, 5, 6].map(slowStepMs)).toEqual([50, 100, 200, 400, 800, 800]);
  expect(backoff.record(nowMs, nowMs + 10, 10)).toBe(true);
  nowMs += 10;
  expect(slowStepMs()).toBe(400);
});

it('does not compare steps with one thread with the expectation', () => {
  const backoff = new ThreadBackoff(4);
  backoff.record(0, 1000, 10);
  expect(backoff.record(1000, 1400, 10)).toBe(false);
  expect(backoff.threads(1400)).toBe(4);
});
