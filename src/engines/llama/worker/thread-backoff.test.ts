import { expect, it } from 'vitest';
import { ThreadBackoff } from './thread-backoff.ts';

/** A step with the threads that the backoff gives it. */
function record(backoff: ThreadBackoff, startMs: number, endMs: number, expectedMs: number): boolean {
  return backoff.record({ startMs, endMs, threads: backoff.threads(startMs) }, expectedMs);
}

it('uses all threads while steps take as long as expected', () => {
  const backoff = new ThreadBackoff(4);
  expect(record(backoff, 0, 34, 10)).toBe(true);
  expect(backoff.threads(34)).toBe(4);
});

it('uses one thread for 50 ms after a slow step', () => {
  const backoff = new ThreadBackoff(4);
  expect(record(backoff, 0, 36, 10)).toBe(false);
  expect(backoff.threads(36)).toBe(1);
  expect(backoff.threads(85)).toBe(1);
  expect(backoff.threads(86)).toBe(4);
});

it('doubles the time after each further slow step, up to 800 ms, and halves it after a fast one', () => {
  const backoff = new ThreadBackoff(4);
  let nowMs = 0;
  const slowStepMs = () => {
    record(backoff, nowMs, nowMs + 1000, 10);
    nowMs += 1000;
    const startMs = nowMs;
    while (backoff.threads(nowMs) === 1) nowMs += 1;
    return nowMs - startMs;
  };
  expect([1, 2, 3, 4, 5, 6].map(slowStepMs)).toEqual([50, 100, 200, 400, 800, 800]);
  expect(record(backoff, nowMs, nowMs + 10, 10)).toBe(true);
  nowMs += 10;
  expect(slowStepMs()).toBe(400);
});

it('does not compare steps with one thread with the expectation', () => {
  const backoff = new ThreadBackoff(4);
  record(backoff, 0, 1000, 10);
  expect(record(backoff, 1000, 1400, 10)).toBe(false);
  expect(backoff.threads(1400)).toBe(4);
});

it('uses half of the threads while the cores are shared, and does not compare these steps', () => {
  const backoff = new ThreadBackoff(4);
  backoff.share(true);
  expect(backoff.threads(0)).toBe(2);
  expect(record(backoff, 0, 1000, 10)).toBe(false);
  expect(backoff.threads(1000)).toBe(2);
  backoff.share(false);
  expect(backoff.threads(1000)).toBe(4);
  const one = new ThreadBackoff(1);
  one.share(true);
  expect(one.threads(0)).toBe(1);
});
