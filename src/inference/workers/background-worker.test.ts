import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { RecordingLogger } from '../../../tools/harness/doubles/recording-logger.ts';
import { BackgroundWorker, type StartableWorker } from './background-worker.ts';

const IDLE_MS = 1000;
const OVERLOADED = { kind: 'overloaded' };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A worker whose start and jobs end when the test resolves them, and whose close fails its jobs. */
class FakeWorker implements StartableWorker {
  readonly started = Promise.withResolvers<void>();
  readonly closing = Promise.withResolvers<void>();
  readonly #failed = Promise.withResolvers<never>();
  closed = false;

  constructor() {
    this.#failed.promise.catch(() => undefined);
  }

  start(): Promise<void> {
    return this.started.promise;
  }

  async *count(to: number): AsyncGenerator<number> {
    for (let each = 1; each <= to; each += 1) yield each;
    await Promise.race([this.closing.promise, this.#failed.promise]);
  }

  async close(): Promise<void> {
    this.closed = true;
    this.started.reject(new Error('closed'));
    this.#failed.reject(new Error('worker closed'));
    await this.closing.promise;
  }
}

function scene() {
  const log = new RecordingLogger();
  const workers: FakeWorker[] = [];
  const background = new BackgroundWorker({
    name: 'test worker',
    log,
    idleMs: IDLE_MS,
    createWorker() {
      const worker = new FakeWorker();
      workers.push(worker);
      return worker;
    },
  });
  return { background, workers, log, startJob: () => background.runJob((worker) => worker.count(1)) };
}

it('starts a worker with the first job, and the next one after it was idle', async () => {
  const { startJob, workers } = scene();
  const jobs = [startJob(), startJob()];
  expect(workers).toEqual([]);
  for (const job of jobs) expect(await job.next()).toEqual({ done: false, value: 1 });
  expect(workers).toHaveLength(1);
  await jobs[0]?.return();
  await vi.advanceTimersByTimeAsync(2 * IDLE_MS);
  expect(workers[0]?.closed).toBe(false);
  await jobs[1]?.return();
  await vi.advanceTimersByTimeAsync(IDLE_MS - 1);
  const late = startJob();
  await late.next();
  await vi.advanceTimersByTimeAsync(2 * IDLE_MS);
  expect(workers.map(({ closed }) => closed)).toEqual([false]);
  await late.return();
  await vi.advanceTimersByTimeAsync(IDLE_MS);
  expect(workers.map(({ closed }) => closed)).toEqual([true]);
  await startJob().next();
  expect(workers.map(({ closed }) => closed)).toEqual([true, false]);
});

it('close waits for the worker and for one that is closing because it was idle', async () => {
  const { background, startJob, workers } = scene();
  const first = startJob();
  await first.next();
  await first.return();
  await vi.advanceTimersByTimeAsync(IDLE_MS);
  await startJob().next();
  let closed = false;
  const closing = Promise.all([background.close(), background.close()]).then(() => {
    closed = true;
  });
  workers[1]?.closing.resolve();
  await vi.advanceTimersByTimeAsync(0);
  expect([workers[1]?.closed, closed]).toEqual([true, false]);
  workers[0]?.closing.resolve();
  await closing;
});

it('fails the open jobs at close, rejects later ones, and logs nothing', async () => {
  const { background, startJob, workers, log } = scene();
  const open = startJob();
  await open.next();
  const outcome = expect(open.next()).rejects.toThrow('worker closed');
  const closing = background.close();
  await outcome;
  workers[0]?.closing.resolve();
  await closing;
  await expect(startJob().next()).rejects.toMatchObject(OVERLOADED);
  await vi.advanceTimersByTimeAsync(2 * IDLE_MS);
  expect([workers.length, vi.getTimerCount(), log.lines]).toEqual([1, 0, []]);
});

it('logs a failed start, but not of a worker that was closed', async () => {
  const { startJob, workers, log } = scene();
  const first = startJob();
  await first.next();
  await first.return();
  await vi.advanceTimersByTimeAsync(IDLE_MS);
  expect(log.lines).toEqual([]);
  await startJob().next();
  workers[1]?.started.reject(new Error('damaged'));
  await vi.advanceTimersByTimeAsync(0);
  expect(log.lines.map(({ message, error }) => [message, error])).toEqual([
    ['test worker failed to start', new Error('damaged')],
  ]);
});
