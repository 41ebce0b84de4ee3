import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { FakeScript, FakeSpec } from '../../../test/doubles/fake-inference-worker.ts';
import { noMetrics, silentLog } from '../../../tools/harness/doubles/doubles.ts';
import { systemClock } from '../../kit/clock.ts';
import { isRunning } from '../../kit/process/host-id.ts';
import { type BackgroundPoolOptions, backgroundPool } from './background-pool.ts';
import type { InferencePool } from './inference-pool.ts';
import { poolMeter } from './pool-metrics.ts';

const entry = fileURLToPath(new URL('../../../test/doubles/fake-inference-worker.ts', import.meta.url));
const never = new AbortController().signal;
const OVERLOADED = { kind: 'overloaded' };

type BackgroundPool = Pick<InferencePool, 'runJob' | 'close'>;

function openPool(options: Partial<BackgroundPoolOptions<FakeSpec>> = {}): BackgroundPool {
  const pool = backgroundPool<FakeSpec>({
    entry,
    models: { fake: {} },
    settings: { provider: 'cpu', workers: 1, threads: 1, queueLimit: 8, environment: {} },
    clock: systemClock,
    log: silentLog,
    meter: poolMeter(noMetrics),
    ...options,
  });
  onTestFinished(() => pool.close());
  return pool;
}

/** Starts a job. The first result is the pid of its process. */
function startJob(pool: BackgroundPool, steps = 1, signal = never) {
  const request: FakeScript = { who: true, mark: 7, steps, samples: 0, words: true };
  const spec = { request, priority: 'batch', fairnessKey: 'a', delivery: 'text' } as const;
  const results = pool.runJob<FakeScript, string>('fake', spec, signal);
  return { next: async () => (await results.next()).value };
}

/** Runs a job to its end and returns the pid of its process. */
async function workerPid(pool: BackgroundPool): Promise<number> {
  const { next } = startJob(pool);
  const pid = Number(await next());
  expect([await next(), await next()]).toEqual(['7.0', undefined]);
  return pid;
}

describe('worker processes', () => {
  it('start with the first job, serve the next job, and stop when the pool is idle', async () => {
    const lasting = openPool();
    const pid = await workerPid(lasting);
    expect(await workerPid(lasting)).toBe(pid);
    await lasting.close();
    await lasting.close();
    expect(isRunning(pid)).toBe(false);
    await expect(startJob(lasting).next()).rejects.toMatchObject(OVERLOADED);
    const brief = openPool({ idleMs: 1 });
    const first = await workerPid(brief);
    await expect.poll(() => isRunning(first)).toBe(false);
    expect(await workerPid(brief)).not.toBe(first);
  });

  it('keep running while a job is open', async () => {
    const pool = openPool({ idleMs: 1 });
    const open = startJob(pool, 2);
    const pid = Number(await open.next());
    expect(await workerPid(pool)).toBe(pid);
    await Bun.sleep(5);
    expect([await open.next(), await open.next(), await open.next()]).toEqual(['7.0', '7.1', undefined]);
    await expect.poll(() => isRunning(pid)).toBe(false);
  });

  it.skipIf(process.platform !== 'linux')('run every thread under SCHED_IDLE', async () => {
    const pid = await workerPid(openPool());
    const classes = readdirSync(`/proc/${pid}/task`).map((task) => {
      // Field 41 (policy) of /proc/pid/task/tid/stat; the fields after the name, which may contain spaces, start at 3.
      const [, fields = ''] = readFileSync(`/proc/${pid}/task/${task}/stat`, 'utf8').split(') ');
      return Number(fields.split(' ')[38]);
    });
    expect(classes.length).toBeGreaterThan(1);
    expect(new Set(classes)).toEqual(new Set([5]));
  });
});

describe('failures', () => {
  it('fails a job and logs the cause when the models cannot be loaded', async () => {
    const error = vi.fn();
    const pool = openPool({
      models: { fake: { loadFailure: 'the file is damaged' } },
      log: { ...silentLog, error },
    });
    await expect(startJob(pool).next()).rejects.toMatchObject(OVERLOADED);
    await expect
      .poll(() => error.mock.calls.map(([message]) => message))
      .toContain('background inference pool failed to start');
  });

  it('fails jobs that wait for the load when they are aborted or the pool is closed', async () => {
    const pool = openPool({ models: { fake: { loadHangs: true } } });
    const controller = new AbortController();
    const [aborted, waiting] = [startJob(pool, 1, controller.signal).next(), startJob(pool).next()];
    const outcomes = Promise.all([
      expect(aborted).rejects.toBe('gone'),
      expect(waiting).rejects.toMatchObject(OVERLOADED),
    ]);
    controller.abort('gone');
    await pool.close();
    await outcomes;
  });
});
