import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withMethods } from '../../test/doubles/with-methods.ts';
import { silentLog } from '../../tools/harness/doubles/doubles.ts';
import { ManualClock } from '../../tools/harness/doubles/manual-clock.ts';
import { RecordingLogger } from '../../tools/harness/doubles/recording-logger.ts';
import { ServiceError } from '../contract/core/error.ts';
import type { JobQueue } from '../contract/core/jobs.ts';
import { MAX_SCHEDULE_AHEAD_MS } from '../contract/stores/job-store.ts';
import { openRecords } from '../records/open-records.ts';
import type { Records } from '../records/schema/records.ts';
import { jobStore } from '../records/stores/job-store.ts';
import { isHeldByExitedProcess, leaseName } from './lease-name.ts';
import { sqlJobs } from './sql-jobs.ts';

/** Table cases beyond the shared queue suite: leases of exited processes. */

let records: Records;
const queues: JobQueue[] = [];
const clock = new ManualClock();
beforeEach(async () => {
  records = await openRecords({ kind: 'sqlite', path: ':memory:' });
});
afterEach(async () => {
  for (const queue of queues.splice(0)) await queue.close();
  await records.close();
});

/** Leases of minutes on a clock that stands still: only a crash ends them. */
const TIMING = { leaseMs: 300_000, renewalMs: 50, pollMs: 20, firstRetryMs: 1000 };
const FIRST = { hostId: 'here', pid: 7, instance: 'first' };

function process(self: typeof FIRST, running: ReadonlySet<number>) {
  const queue = sqlJobs({
    store: jobStore(records),
    clock,
    log: silentLog,
    timing: TIMING,
    self,
    isRunning: (pid) => running.has(pid),
  });
  queues.push(queue);
  const runs: string[] = [];
  return {
    queue,
    runs,
    work: () =>
      queue.startRunner({
        kind: 'batch',
        concurrency: 1,
        async runJob(id) {
          runs.push(id);
          return { kind: 'done' };
        },
      }),
  };
}

/** A job claimed by a process that then crashed. */
async function taken(id: string): Promise<void> {
  const store = jobStore(records);
  await store.addJob('batch', id, clock.now());
  const times = { at: clock.now(), until: clock.now() + TIMING.leaseMs };
  await store.claimJob({ kind: 'batch', lease: leaseName(FIRST, 1) }, times);
}

describe('the job of a crashed process', () => {
  it('is run immediately by the next process of its host', async () => {
    await taken('a');
    const next = process({ ...FIRST, pid: 8, instance: 'next' }, new Set([8]));
    next.work();
    await expect.poll(() => next.runs).toEqual(['a']);
  });

  it('is run immediately by a process that reuses its process id', async () => {
    await taken('a');
    const next = process({ ...FIRST, instance: 'next' }, new Set([7]));
    next.work();
    await expect.poll(() => next.runs).toEqual(['a']);
  });

  it('is run by an existing process after it detects the crash', async () => {
    const running = new Set([7, 8]);
    await taken('a');
    const other = process({ ...FIRST, pid: 8, instance: 'other' }, running);
    other.work();
    await other.queue.enqueue('batch', 'b');
    await expect.poll(() => other.runs).toEqual(['b']);
    running.delete(7);
    await expect.poll(() => other.runs).toEqual(['b', 'a']);
  });

  it('is not run on another host before its lease expires', async () => {
    await taken('a');
    const far = process({ hostId: 'there', pid: 8, instance: 'far' }, new Set([8]));
    far.work();
    await far.queue.enqueue('batch', 'b');
    await expect.poll(() => far.runs).toEqual(['b']);
    clock.advance(TIMING.leaseMs + 1);
    await expect.poll(() => far.runs).toEqual(['b', 'a']);
  });
});

it('a job scheduled by a clock that was set back does not wait for it', async () => {
  await jobStore(records).addJob('batch', 'a', clock.now() + MAX_SCHEDULE_AHEAD_MS + 1);
  await jobStore(records).addJob('batch', 'b', clock.now() + MAX_SCHEDULE_AHEAD_MS);
  const runner = process(FIRST, new Set([7]));
  runner.work();
  await expect.poll(() => runner.runs).toEqual(['a']);
  clock.advance(MAX_SCHEDULE_AHEAD_MS);
  await expect.poll(() => runner.runs).toEqual(['a', 'b']);
});

it('logs an unavailable store once, and its recovery', async () => {
  const log = new RecordingLogger();
  let isAway = true;
  const store = jobStore(records);
  let asked = 0;
  const queue = sqlJobs({
    store: withMethods(store, {
      claimJob: (lease, times) => {
        asked += 1;
        return isAway ? Promise.reject(new Error('away')) : store.claimJob(lease, times);
      },
    }),
    clock,
    log,
    timing: TIMING,
    self: FIRST,
    isRunning: () => true,
  });
  queues.push(queue);
  let runs = 0;
  queue.startRunner({
    kind: 'batch',
    concurrency: 1,
    async runJob() {
      runs += 1;
      return { kind: 'done' };
    },
  });
  const told = () => log.lines.filter(({ message }) => message === 'jobs could not be claimed').length;
  await expect.poll(() => asked).toBeGreaterThan(3);
  expect(told()).toBe(1);
  isAway = false;
  await queue.enqueue('batch', 'a');
  await expect.poll(() => runs).toBe(1);
  isAway = true;
  const before = asked;
  await expect.poll(() => asked).toBeGreaterThan(before + 3);
  expect(told()).toBe(2);
});

it('logs unavailable dependencies once with their recovery, and other failures each time', async () => {
  const log = new RecordingLogger();
  const timing = { ...TIMING, firstRetryMs: 0 };
  const queue = sqlJobs({
    store: jobStore(records),
    clock,
    log,
    timing,
    self: FIRST,
    isRunning: () => true,
  });
  queues.push(queue);
  const unavailable = new ServiceError('overloaded', 'Unavailable.', { code: 'server_overloaded' });
  const ends = [
    unavailable,
    unavailable,
    unavailable,
    undefined,
    new Error('failure'),
    new Error('failure'),
    undefined,
    unavailable,
  ];
  queue.startRunner({
    kind: 'batch',
    concurrency: 1,
    async runJob() {
      const error = ends.shift();
      if (error !== undefined) throw error;
      return ends.length === 0 ? { kind: 'done' } : { kind: 'again', delayMs: 0 };
    },
  });
  await queue.enqueue('batch', 'a');
  await expect.poll(() => log.lines).toHaveLength(6);
  const waiting = 'jobs wait for an unavailable dependency';
  const fault = { level: 'error', message: 'job failed, will be retried', fields: { job: 'a' } };
  expect(log.lines).toMatchObject([
    { level: 'error', message: waiting, fields: { kind: 'batch', job: 'a' }, error: unavailable },
    { level: 'info', fields: { kind: 'batch', failed: waiting, times: 3 } },
    fault,
    fault,
    { level: 'error', message: waiting },
    { level: 'info', fields: { times: 1 } },
  ]);
});

it('a lease of this process is not considered abandoned', () => {
  expect(isHeldByExitedProcess(leaseName(FIRST, 3), FIRST, () => false)).toBe(false);
});
