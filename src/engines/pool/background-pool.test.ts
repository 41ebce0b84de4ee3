import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { FakeScript, FakeSpec } from '../../../test/doubles/fake-inference-worker.ts';
import { noMetrics, silentLog } from '../../../tools/harness/doubles/doubles.ts';
import { systemClock } from '../../kit/clock.ts';
import { isRunning } from '../../kit/process/host-id.ts';
import { BatchPool, type BatchPoolOptions } from './background-pool.ts';
import { poolMeter } from './pool-metrics.ts';

const entry = fileURLToPath(new URL('../../../test/doubles/fake-inference-worker.ts', import.meta.url));
const never = new AbortController().signal;
const OVERLOADED = { kind: 'overloaded' };

function openPool(options: Partial<BatchPoolOptions<FakeSpec>> = {}): BatchPool<FakeSpec> {
  const pool = new BatchPool<FakeSpec>({
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

/** Begins a job; each pull gives a word, the first of them the number of the process. */
function begin(pool: BatchPool<FakeSpec>, passes = 1, signal = never) {
  const request: FakeScript = { who: true, mark: 7, passes, samples: 0, words: true };
  const work = { request, priority: 'batch', owner: 'a', delivery: 'text' } as const;
  const words = pool.run<FakeScript, string>('fake', work, signal);
  return { next: async () => (await words.next()).value, leave: () => words.return() };
}

/** The number of the process that works on a job, once the job has ended. */
async function who(pool: BatchPool<FakeSpec>): Promise<number> {
  const { next } = begin(pool);
  const pid = Number(await next());
  expect([await next(), await next()]).toEqual(['7.0', undefined]);
  return pid;
}

describe('the processes', () => {
  it('come with the first job, stay for the next, and end when none comes', async () => {
    const pool = openPool({ idleMs: 300 });
    const pid = await who(pool);
    expect(await who(pool)).toBe(pid);
    await expect.poll(() => isRunning(pid), { timeout: 10_000 }).toBe(false);
    const next = await who(pool);
    expect(next).not.toBe(pid);
    await pool.close();
    await pool.close();
    expect(isRunning(next)).toBe(false);
    await expect(begin(pool).next()).rejects.toMatchObject(OVERLOADED);
  });

  it('stay while a job is open', async () => {
    const pool = openPool({ idleMs: 20 });
    const open = begin(pool, 2);
    const pid = Number(await open.next());
    expect(await who(pool)).toBe(pid);
    await Bun.sleep(100);
    expect([await open.next(), await open.next(), await open.next()]).toEqual(['7.0', '7.1', undefined]);
    await expect.poll(() => isRunning(pid), { timeout: 10_000 }).toBe(false);
  });

  it.skipIf(process.platform !== 'linux')('leave the cores to all others, in every thread', async () => {
    const pid = await who(openPool());
    const classes = readdirSync(`/proc/${pid}/task`).map((task) => {
      // Behind the name, which may have spaces, the 39th field.
      const [, fields = ''] = readFileSync(`/proc/${pid}/task/${task}/stat`, 'utf8').split(') ');
      return Number(fields.split(' ')[38]);
    });
    expect(classes.length).toBeGreaterThan(1);
    expect(new Set(classes)).toEqual(new Set([5]));
  });
});

describe('what fails', () => {
  it('is a job whose models cannot be loaded, and the log says why', async () => {
    const error = vi.fn();
    const pool = openPool({
      models: { fake: { loadFailure: 'the file is damaged' } },
      log: { ...silentLog, error },
    });
    await expect(begin(pool).next()).rejects.toMatchObject(OVERLOADED);
    await expect
      .poll(() => error.mock.calls.map(([what]) => what))
      .toContain('no process for batches could be started');
  });

  it('is what waits for the load when the pool is closed, and what is given up', async () => {
    const pool = openPool({ models: { fake: { loadHangs: true } } });
    const leaving = new AbortController();
    const [left, waiting] = [begin(pool, 1, leaving.signal).next(), begin(pool).next()];
    const outcomes = Promise.all([
      expect(left).rejects.toBe('gone'),
      expect(waiting).rejects.toMatchObject(OVERLOADED),
    ]);
    leaving.abort('gone');
    await pool.close();
    await outcomes;
  });
});
