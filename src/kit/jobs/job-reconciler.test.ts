import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { RecordingLogger } from '../../../tools/harness/doubles/recording-logger.ts';
import { JobReconciler, type JobReconcilerOptions } from './job-reconciler.ts';

const open: string[] = [];
const queued: string[] = [];
let log: RecordingLogger;
beforeEach(() => {
  open.length = 0;
  queued.length = 0;
  log = new RecordingLogger();
});

/** A reconciler over the ids of `open` with a short interval. */
function startReconciler(options: Partial<JobReconcilerOptions<string>> = {}) {
  const reconciler = new JobReconciler<string>({
    kind: 'batch',
    what: 'open batches',
    log,
    intervalMs: 1,
    listOpen: async (limit, after) => {
      const start = after === undefined ? 0 : open.indexOf(after) + 1;
      return open.slice(start, start + limit);
    },
    jobs: {
      async enqueue(kind, id) {
        queued.push(`${kind} ${id}`);
      },
    },
    ...options,
  });
  onTestFinished(() => reconciler.close());
  return reconciler;
}

const addOpen = (count: number) => open.push(...Array.from({ length: count }, (_, at) => `id-${at}`));
const jobsOf = (ids: readonly string[]) => new Set(ids.map((id) => `batch ${id}`));

it.each([0, 1, 100, 230])('queues each of %d unfinished jobs page by page and counts them', async (count) => {
  addOpen(count);
  const reconciler = startReconciler();
  await expect.poll(() => reconciler.open).toBe(count);
  expect(new Set(queued)).toEqual(jobsOf(open));
});

it('checks again at the interval, without the jobs that have finished', async () => {
  addOpen(230);
  const reconciler = startReconciler();
  await expect.poll(() => reconciler.open).toBe(230);
  open.shift();
  await expect.poll(() => reconciler.open).toBe(229);
  queued.length = 0;
  await expect.poll(() => new Set(queued)).toEqual(jobsOf(open));
});

it('retries after the queue was unavailable and logs the outage once', async () => {
  addOpen(2);
  let isUnavailable = true;
  let rejections = 0;
  startReconciler({
    jobs: {
      async enqueue(kind, id) {
        if (isUnavailable) {
          rejections += 1;
          throw new Error('queue unavailable');
        }
        queued.push(`${kind} ${id}`);
      },
    },
  });
  await expect.poll(() => rejections).toBeGreaterThan(2);
  expect(log.lines).toMatchObject([{ level: 'error', message: 'open batches could not be queued' }]);
  expect(queued).toEqual([]);
  isUnavailable = false;
  await expect.poll(() => new Set(queued)).toEqual(jobsOf(open));
  await expect
    .poll(() => log.lines.slice(1))
    .toMatchObject([{ level: 'info', fields: { times: rejections } }]);
});

it('stops in the middle of a check when it is closed, without a log line', async () => {
  addOpen(5);
  const response = Promise.withResolvers<void>();
  let calls = 0;
  const reconciler = startReconciler({
    jobs: {
      enqueue() {
        calls += 1;
        return response.promise;
      },
    },
  });
  await expect.poll(() => calls).toBe(1);
  const closed = reconciler.close();
  response.resolve();
  await closed;
  expect(calls).toBe(1);
  expect(reconciler.open).toBe(0);
  expect(log.lines).toEqual([]);
});
