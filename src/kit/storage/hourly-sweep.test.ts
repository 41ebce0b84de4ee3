import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { RecordingLogger } from '../../../tools/harness/doubles/recording-logger.ts';
import { hourlySweep } from './hourly-sweep.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A sweep whose counts and number of unfinished blobs are given per run. */
function sweepOf(...runs: readonly ({ clips: number; unfinished: number } | Error)[]) {
  const log = new RecordingLogger();
  let run = -1;
  const current = () => {
    const result = runs[run];
    if (result === undefined || result instanceof Error) throw result ?? new Error('too many runs');
    return result;
  };
  const task = hourlySweep({
    what: 'clips',
    log,
    async sweep() {
      run += 1;
      return { clips: current().clips };
    },
    blobs: { removeUnfinished: async () => current().unfinished },
  });
  return { task, log };
}

it('sweeps at start and every hour, and logs the counts if something was removed', async () => {
  const { task, log } = sweepOf(
    { clips: 2, unfinished: 0 },
    { clips: 0, unfinished: 0 },
    { clips: 0, unfinished: 1 },
  );
  await vi.advanceTimersByTimeAsync(2 * 3_600_000);
  await task.close();
  expect(log.lines).toEqual([
    { level: 'info', message: 'clips swept', fields: { clips: 2, unfinished: 0 } },
    { level: 'info', message: 'clips swept', fields: { clips: 0, unfinished: 1 } },
  ]);
});

it('logs a failure and continues at the next interval', async () => {
  const { task, log } = sweepOf(new Error('database unavailable'), { clips: 1, unfinished: 0 });
  await vi.advanceTimersByTimeAsync(3_600_000);
  await task.close();
  expect(log.lines).toMatchObject([
    { level: 'error', message: 'clips could not be swept' },
    { level: 'info', message: 'clips swept' },
  ]);
});

it('logs nothing if it is closed during a sweep', async () => {
  const log = new RecordingLogger();
  const task = hourlySweep({
    what: 'clips',
    log,
    blobs: { removeUnfinished: async () => 0 },
    sweep: (signal) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  });
  await task.close();
  expect(log.lines).toEqual([]);
});
