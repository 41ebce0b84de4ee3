import { afterEach, expect, test, vi } from 'vitest';
import type { JobHandler, JobOutcome, JobQueue } from '../../src/contract/core/jobs.ts';
import type { Tracer } from '../../src/contract/core/tracer.ts';
import type { JobTiming } from '../../src/jobs/job-timing.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { PATIENCE } from '../../tools/harness/patience.ts';
import { RecordingTracer } from '../doubles/recording-tracer.ts';
import { repetitions } from '../harness/tier.ts';

/** One of several nodes that share a job queue. */
export interface JobMachine {
  readonly queue: JobQueue;
  /** Simulates a network failure between the node and the queue until {@link repair}. */
  cut(): void;
  repair(): void;
}

/** No lease expires during a test, also on a machine that stalls. */
const LONG_LEASES: JobTiming = { leaseMs: 60_000, renewalMs: 20_000, pollMs: 100, firstRetryMs: 50 };
/** For tests of leases that expire. A stall of 2 s does not cost a node its lease. */
const SHORT_LEASES: JobTiming = { ...LONG_LEASES, leaseMs: 2500, renewalMs: 250 };

/** Opens an empty queue and nodes that share it. `close` closes them all. */
export type OpenJobs = (timing: JobTiming) => Promise<{
  machine(tracer?: Tracer): Promise<JobMachine>;
  close(): Promise<void>;
}>;

const DONE: JobOutcome = { kind: 'done' };
const again = (delayMs: number): JobOutcome => ({ kind: 'again', delayMs });

/** A job handler that records its runs and returns the given outcomes. */
function recorded(
  outcomeOf: (id: string, run: number, signal: AbortSignal) => JobOutcome | Promise<JobOutcome>,
) {
  const runs: string[] = [];
  const times: number[] = [];
  const handler = (concurrency: number): JobHandler => ({
    kind: 'brew',
    concurrency,
    async runJob(id, signal) {
      runs.push(id);
      times.push(systemClock.monotonicMs());
      return outcomeOf(id, runs.length, signal);
    },
  });
  return { runs, times, handler };
}

const fired = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** Contract of the job queue. */
export function jobQueueCases(openJobs: OpenJobs): void {
  const closing: { close(): Promise<void> }[] = [];
  const open = async (timing = LONG_LEASES) => {
    const jobs = await openJobs(timing);
    closing.push(jobs);
    return jobs;
  };
  afterEach(async () => {
    for (const jobs of closing.splice(0)) await jobs.close();
  });
  const waitForRuns = (runs: readonly string[], count: number) =>
    expect.poll(() => runs.length).toBeGreaterThanOrEqual(count);

  test('runs a job and removes it when it is done', async () => {
    const { queue } = await (await open()).machine();
    const { runs, handler } = recorded(() => DONE);
    queue.startRunner(handler(2));
    await queue.enqueue('brew', 'a');
    await waitForRuns(runs, 1);
    // A second run is possible only if the queue has removed the job.
    await vi.waitFor(async () => {
      await queue.enqueue('brew', 'a');
      expect(runs).toEqual(['a', 'a']);
    }, PATIENCE);
  });

  test('traces each run separately, linked to the request that queued the job, across nodes', async () => {
    const jobs = await open();
    const [requestTracer, jobTracer] = [new RecordingTracer(), new RecordingTracer()];
    const [requesting, working] = [await jobs.machine(requestTracer), await jobs.machine(jobTracer)];
    const request = requestTracer.startSpan('request');
    await request.runInContext(() => requesting.queue.enqueue('brew', 'a'));
    const { runs, handler } = recorded((_, run) => (run === 1 ? again(0) : DONE));
    working.queue.startRunner(handler(1));
    await waitForRuns(runs, 2);
    await working.queue.enqueue('brew', 'b');
    await waitForRuns(runs, 3);
    const span = { name: 'job', parent: undefined };
    const attributes = { kind: 'brew', job: 'a' };
    await expect
      .poll(() => jobTracer.spans)
      .toMatchObject([
        { ...span, cause: request.traceparent, attributes: { ...attributes, outcome: 'again' } },
        { ...span, cause: request.traceparent, attributes: { ...attributes, outcome: 'done' } },
        { ...span, cause: undefined, attributes: { job: 'b', outcome: 'done' } },
      ]);
  });

  test('runs a job once if it is added several times', async () => {
    const jobs = await open();
    const [{ queue }, other] = [await jobs.machine(), await jobs.machine()];
    await Promise.all([
      queue.enqueue('brew', 'a'),
      other.queue.enqueue('brew', 'a'),
      queue.enqueue('brew', 'a'),
    ]);
    await queue.enqueue('brew', 'b');
    const { runs, handler } = recorded(() => DONE);
    queue.startRunner(handler(1));
    await waitForRuns(runs, 2);
    await queue.enqueue('brew', 'c');
    await waitForRuns(runs, 3);
    expect(runs).toEqual(['a', 'b', 'c']);
  });

  test('ignores a job that is added again while it runs', async () => {
    const { queue } = await (await open()).machine();
    const gate = Promise.withResolvers<void>();
    const { runs, handler } = recorded(async (id) => {
      if (id === 'a') await gate.promise;
      return DONE;
    });
    queue.startRunner(handler(1));
    await queue.enqueue('brew', 'a');
    await waitForRuns(runs, 1);
    await queue.enqueue('brew', 'a');
    gate.resolve();
    // A job that is queued later runs after a second run of `a`, if there is one.
    await vi.waitFor(async () => {
      await queue.enqueue('brew', 'b');
      expect(runs).toContain('b');
    }, PATIENCE);
    expect(runs.filter((id) => id === 'a')).toEqual(['a']);
  });

  test('runs jobs that a closed process queued', async () => {
    const jobs = await open();
    const before = await jobs.machine();
    await before.queue.enqueue('brew', 'a');
    await before.queue.close();
    const { runs, handler } = recorded(() => DONE);
    (await jobs.machine()).queue.startRunner(handler(1));
    await waitForRuns(runs, 1);
    expect(runs).toEqual(['a']);
  });

  test('runs many jobs once each on three nodes, within the concurrency of each node', async () => {
    const jobs = await open();
    const machines = [await jobs.machine(), await jobs.machine(), await jobs.machine()];
    const ids = Array.from({ length: repetitions(100, 1000) }, (_, at) => `job-${at}`);
    const all: string[] = [];
    let maxOpen = 0;
    for (const { queue } of machines) {
      let open = 0;
      const { handler } = recorded(async (id) => {
        open += 1;
        maxOpen = Math.max(maxOpen, open);
        all.push(id);
        await Bun.sleep(1);
        open -= 1;
        return DONE;
      });
      queue.startRunner(handler(8));
    }
    for (let at = 0; at < ids.length; at += 50) {
      await Promise.all(ids.slice(at, at + 50).map((id) => machines[at % 3]?.queue.enqueue('brew', id)));
    }
    await waitForRuns(all, ids.length);
    expect(all.toSorted()).toEqual(ids.toSorted());
    expect(maxOpen).toBeGreaterThan(1);
    expect(maxOpen).toBeLessThanOrEqual(8);
  });

  test('retries a failed run with growing delays, while other jobs run', async () => {
    const { queue } = await (await open()).machine();
    const { runs, times, handler } = recorded((id, run) => {
      if (id === 'bad' && runs.filter((other) => other === 'bad').length < 4) throw new Error(`run ${run}`);
      return DONE;
    });
    queue.startRunner(handler(1));
    await queue.enqueue('brew', 'bad');
    await queue.enqueue('brew', 'good');
    await waitForRuns(runs, 5);
    expect(runs).toEqual(['bad', 'good', 'bad', 'bad', 'bad']);
    const [first, second, third, fourth] = times.filter((_, at) => runs[at] === 'bad');
    const gaps = [(second ?? 0) - (first ?? 0), (third ?? 0) - (second ?? 0), (fourth ?? 0) - (third ?? 0)];
    for (const [at, minMs] of [49, 99, 199].entries()) expect(gaps[at]).toBeGreaterThanOrEqual(minMs);
  });

  test('resets the retry delay after a run without an error', async () => {
    const { queue } = await (await open()).machine();
    const { runs, handler } = recorded(async (_, run) => {
      if (run === 4) return again(0);
      if (run === 5) await queue.enqueue('brew', 'b');
      // Job `b`, which is due 300 ms after the failure of run 5.
      if (run === 6) return again(300);
      if (run >= 7) return DONE;
      throw new Error('not yet');
    });
    queue.startRunner(handler(1));
    await queue.enqueue('brew', 'a');
    await waitForRuns(runs, 8);
    // Only consecutive failures count: a fourth one would be followed by a delay of 400 ms.
    expect(runs).toEqual(['a', 'a', 'a', 'a', 'a', 'b', 'a', 'b']);
  });

  test('runs a job that returns `again` after the waiting jobs', async () => {
    const { queue } = await (await open()).machine();
    for (const id of ['a', 'b', 'c']) await queue.enqueue('brew', id);
    const { runs, handler } = recorded(async (_, run) => {
      // Queues order jobs by milliseconds.
      await Bun.sleep(5);
      return run === 1 ? again(0) : DONE;
    });
    queue.startRunner(handler(1));
    await waitForRuns(runs, 4);
    expect(runs).toEqual(['a', 'b', 'c', 'a']);
  });

  test('delays a job that returns `again` with a delay', async () => {
    const { queue } = await (await open()).machine();
    const { runs, times, handler } = recorded((_, run) => (run === 1 ? again(300) : DONE));
    queue.startRunner(handler(1));
    await queue.enqueue('brew', 'a');
    await waitForRuns(runs, 2);
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(299);
  });

  test('renews the lease of a long run', async () => {
    const jobs = await open(SHORT_LEASES);
    const [one, other] = [await jobs.machine(), await jobs.machine()];
    const end = Promise.withResolvers<void>();
    const { runs, times, handler } = recorded(async (_, __, signal) => {
      await Promise.race([end.promise, fired(signal)]);
      expect(signal.aborted).toBe(false);
      return DONE;
    });
    one.queue.startRunner(handler(1));
    other.queue.startRunner(handler(1));
    await one.queue.enqueue('brew', 'a');
    await waitForRuns(runs, 1);
    const elapsedMs = () => systemClock.monotonicMs() - (times[0] ?? 0);
    await expect.poll(elapsedMs).toBeGreaterThan(1.5 * SHORT_LEASES.leaseMs);
    expect(runs).toEqual(['a']);
    end.resolve();
  });

  test('aborts runs when a runner stops and waits for them; another node continues', async () => {
    const jobs = await open();
    const [one, other] = [await jobs.machine(), await jobs.machine()];
    const saved: string[] = [];
    const first = recorded(async (id, _, signal) => {
      await fired(signal);
      await Bun.sleep(1);
      saved.push(id);
      return again(0);
    });
    const runner = one.queue.startRunner(first.handler(2));
    await one.queue.enqueue('brew', 'a');
    await one.queue.enqueue('brew', 'b');
    await waitForRuns(first.runs, 2);
    await Promise.all([runner.stop(), runner.stop()]);
    expect(saved.toSorted()).toEqual(['a', 'b']);
    const second = recorded(() => DONE);
    other.queue.startRunner(second.handler(1));
    await waitForRuns(second.runs, 2);
    expect(second.runs.toSorted()).toEqual(['a', 'b']);
    await one.queue.enqueue('brew', 'c');
    await waitForRuns(second.runs, 3);
    expect(first.runs).toHaveLength(2);
  });

  test('gives the job of a disconnected node to another node and aborts the first run', async () => {
    const jobs = await open(SHORT_LEASES);
    const [lost, other] = [await jobs.machine(), await jobs.machine()];
    const end = Promise.withResolvers<void>();
    let isAborted = false;
    const first = recorded(async (_, __, signal) => {
      await fired(signal);
      isAborted = true;
      await end.promise;
      return DONE;
    });
    lost.queue.startRunner(first.handler(1));
    await lost.queue.enqueue('brew', 'a');
    await waitForRuns(first.runs, 1);
    lost.cut();
    const gate = Promise.withResolvers<void>();
    const second = recorded(async () => {
      await gate.promise;
      return DONE;
    });
    other.queue.startRunner(second.handler(1));
    await waitForRuns(second.runs, 1);
    await expect.poll(() => isAborted).toBe(true);
    // The outcome of the first run is ignored: the second node keeps the job.
    lost.repair();
    end.resolve();
    await vi.waitFor(() => lost.queue.enqueue('brew', 'a'), PATIENCE);
    await other.queue.enqueue('brew', 'b');
    await waitForRuns(first.runs, 2);
    expect([first.runs, second.runs]).toEqual([['a', 'b'], ['a']]);
    gate.resolve();
  });

  test('rejects new jobs while disconnected; the runner continues after the repair', async () => {
    const machine = await (await open()).machine();
    const { runs, handler } = recorded(() => DONE);
    machine.queue.startRunner(handler(1));
    await machine.queue.enqueue('brew', 'a');
    await waitForRuns(runs, 1);
    machine.cut();
    await expect(machine.queue.enqueue('brew', 'b')).rejects.toMatchObject({
      kind: 'overloaded',
      code: 'server_overloaded',
      retryAfterS: expect.any(Number),
    });
    machine.repair();
    await vi.waitFor(() => machine.queue.enqueue('brew', 'b'), PATIENCE);
    await expect.poll(() => runs).toContain('b');
    // The first job runs again if its end was not stored before the cut.
    expect([...new Set(runs)]).toEqual(['a', 'b']);
  });

  test('closes while disconnected', async () => {
    const machine = await (await open()).machine();
    const { runs, handler } = recorded(async (_, __, signal) => {
      await fired(signal);
      return again(0);
    });
    machine.queue.startRunner(handler(1));
    await machine.queue.enqueue('brew', 'a');
    await waitForRuns(runs, 1);
    machine.cut();
    await machine.queue.close();
    machine.repair();
  });

  test('allows one runner per kind and process', async () => {
    const { queue } = await (await open()).machine();
    const { handler } = recorded(() => DONE);
    queue.startRunner(handler(1));
    expect(() => queue.startRunner(handler(1))).toThrow('already have a runner');
  });

  test('allows a new runner after a stop; it continues the unfinished jobs', async () => {
    const { queue } = await (await open()).machine();
    const first = recorded(async (_, __, signal) => {
      await fired(signal);
      return again(0);
    });
    const runner = queue.startRunner(first.handler(1));
    await queue.enqueue('brew', 'a');
    await waitForRuns(first.runs, 1);
    await runner.stop();
    const second = recorded(() => DONE);
    const next = queue.startRunner(second.handler(1));
    await waitForRuns(second.runs, 1);
    // A repeated stop of the first runner does not stop the second.
    await runner.stop();
    expect(() => queue.startRunner(second.handler(1))).toThrow('already have a runner');
    await next.stop();
  });
}
