import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { IntervalTask } from './interval-task.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('runs immediately, then at the interval, and never concurrently', async () => {
  const ends: (() => void)[] = [];
  const work = () => new Promise<void>((end) => ends.push(end));
  const recurring = new IntervalTask({ runTask: work, intervalMs: 1000 });
  expect(ends).toHaveLength(1);
  vi.advanceTimersByTime(3000);
  expect(ends).toHaveLength(1);
  ends[0]?.();
  await vi.advanceTimersByTimeAsync(1000);
  expect(ends).toHaveLength(2);
  ends[1]?.();
  await recurring.close();
});

it('aborts the running task on close, waits for it and starts no further run', async () => {
  let begun = 0;
  let ended = false;
  const recurring = new IntervalTask({
    intervalMs: 1000,
    runTask: async (signal) => {
      begun += 1;
      await new Promise((end) => signal.addEventListener('abort', end));
      ended = true;
    },
  });
  await recurring.close();
  expect(ended).toBe(true);
  await recurring.close();
  await vi.advanceTimersByTimeAsync(5000);
  expect(begun).toBe(1);
});
