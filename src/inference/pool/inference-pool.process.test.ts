import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { FakeDescription, FakeScript, FakeSpec } from '../../../test/doubles/fake-inference-worker.ts';
import { noMetrics, silentLog } from '../../../tools/harness/doubles/doubles.ts';
import { RecordingLogger } from '../../../tools/harness/doubles/recording-logger.ts';
import type { Float32Samples } from '../../contract/engines/audio.ts';
import type { Priority } from '../../contract/engines/engine.ts';
import { systemClock } from '../../kit/clock.ts';
import type { AudioLoadLevel } from '../audio-load.ts';
import { type InferencePoolOptions, inferencePool, type StartablePool } from './inference-pool.ts';
import { type JobSpec, PREFETCH_MS, PREFETCH_RESULTS } from './job.ts';
import { poolMeter } from './pool-metrics.ts';

const entry = fileURLToPath(new URL('../../../test/doubles/fake-inference-worker.ts', import.meta.url));
const never = new AbortController().signal;
const RATE_HZ = 24_000;

let pools: StartablePool<FakeSpec>[] = [];
afterEach(async () => {
  await Promise.all(pools.map((pool) => pool.close()));
  pools = [];
});

async function startPool(
  options: Partial<InferencePoolOptions<FakeSpec>> & {
    workers?: number;
    queueLimit?: number;
    environment?: Record<string, string>;
  } = {},
): Promise<StartablePool<FakeSpec>> {
  const { workers = 1, queueLimit = 256, environment = {}, models = { fake: {} }, ...rest } = options;
  const pool = inferencePool<FakeSpec>({
    entry,
    models: {},
    settings: { provider: 'cpu', workers, threads: 1, queueLimit, environment },
    clock: systemClock,
    log: silentLog,
    meter: poolMeter(noMetrics),
    ...rest,
  });
  pools.push(pool);
  await pool.setModels(models);
  return pool;
}

type Fields = Partial<
  Pick<JobSpec<FakeScript, Float32Samples>, 'priority' | 'fairnessKey' | 'delivery' | 'aheadMs'>
>;

function work(script: FakeScript, fields: Fields = {}): JobSpec<FakeScript, Float32Samples> {
  return {
    request: script,
    priority: 'interactive',
    fairnessKey: 'a',
    delivery: 'stream',
    ...fields,
    lengthMs: (samples) => (samples.length * 1000) / RATE_HZ,
  };
}

/** All samples of a synthesis. */
async function collect(
  pool: StartablePool<FakeSpec>,
  script: FakeScript,
  signal = never,
  fields: Fields = {},
): Promise<number[]> {
  const samples: number[] = [];
  for await (const run of pool.runJob('fake', work(script, fields), signal)) samples.push(...run);
  return samples;
}

describe('the load', () => {
  /** Changes of the load during the jobs. */
  const loads = async (...fields: readonly Fields[]) => {
    const changes: AudioLoadLevel[] = [];
    const pool = await startPool({
      onLoad: (level) => {
        if (level !== (changes.at(-1) ?? 'none')) changes.push(level);
      },
    });
    for (const each of fields) await collect(pool, { mark: 1, steps: 2, samples: 24_000 }, never, each);
    return changes;
  };

  it('is urgent while realtime jobs run steps that are due', async () => {
    const text = await loads({ priority: 'realtime', delivery: 'text' });
    expect(text.filter((level) => level !== 'none')).toEqual(['urgent']);
    // The second step is not due: the listener has a second of audio.
    expect(new Set(await loads({ priority: 'realtime' }))).toEqual(new Set(['urgent', 'some', 'none']));
  });

  it('is not urgent for speech that is ahead of its listener, nor for a job of another priority', async () => {
    for (const fields of [
      { priority: 'realtime', aheadMs: 5_000 },
      { priority: 'interactive' },
      { priority: 'batch' },
    ] as const)
      expect(new Set(await loads(fields))).toEqual(new Set(['some', 'none']));
  });
});

describe('one job', () => {
  it('yields the samples of every step in order', async () => {
    const pool = await startPool();
    expect(pool.description<FakeDescription>('fake')).toEqual({ rateHz: RATE_HZ });
    expect(() => pool.description('other')).toThrow("no model 'other' in the pool");
    expect(await collect(pool, { mark: 7, steps: 3, samples: 30_000 })).toEqual(new Array(90_000).fill(7));
  });

  it('sends 30 s of audio to the model and receives text', async () => {
    const pool = await startPool();
    const request: FakeScript = {
      mark: 4,
      steps: 2,
      samples: 0,
      words: true,
      audio: new Float32Array(480_000).fill(0.5),
    };
    const results: string[] = [];
    const text = { request, priority: 'interactive', fairnessKey: 'a', delivery: 'text' } as const;
    for await (const result of pool.runJob<FakeScript, string>('fake', text, never)) results.push(result);
    expect(results).toEqual(['480000 240000', '4.0', '4.1']);
  });

  it('finishes without samples when the model has no results', async () => {
    const pool = await startPool();
    expect(await collect(pool, { mark: 1, steps: 0, samples: 0 })).toEqual([]);
  });

  it('is overloaded when a part of its model is unavailable', async () => {
    const pool = await startPool();
    await expect(
      collect(pool, { mark: 1, steps: 2, samples: 10, at: 1, failure: 'unavailable' }),
    ).rejects.toMatchObject({ kind: 'overloaded', code: 'server_overloaded', retryAfterS: 2 });
  });

  it('fails without the cause when a step throws, and the pool serves the next job', async () => {
    const pool = await startPool();
    await expect(
      collect(pool, { mark: 1, steps: 2, samples: 10, at: 1, failure: 'throw' }),
    ).rejects.toMatchObject({ kind: 'internal', message: 'The model failed on this input.' });
    expect(await collect(pool, { mark: 2, steps: 1, samples: 2 })).toEqual([2, 2]);
  });

  it('does not start when its signal is already aborted', async () => {
    const pool = await startPool();
    const reason = new Error('gone');
    await expect(collect(pool, { mark: 1, steps: 1, samples: 1 }, AbortSignal.abort(reason))).rejects.toBe(
      reason,
    );
  });
});

describe('concurrent jobs', () => {
  it('all finish with their own audio when some of 100 are cancelled', async () => {
    const pool = await startPool({ workers: 2 });
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        const controller = new AbortController();
        const script = { mark: index, steps: 5, samples: 500, stepMs: 1 };
        const delivery = index % 2 === 0 ? 'stream' : 'whole';
        const priority = (['realtime', 'interactive', 'batch'] as const)[index % 3] ?? 'batch';
        const samples: number[] = [];
        try {
          const runs = pool.runJob('fake', work(script, { delivery, priority }), controller.signal);
          for await (const run of runs) {
            samples.push(...run);
            if (index % 5 === 0) controller.abort(new Error('cancelled'));
          }
          return { index, samples, outcome: 'done' };
        } catch (error) {
          return { index, samples, outcome: (error as Error).message };
        }
      }),
    );
    for (const { index, samples, outcome } of outcomes) {
      expect(outcome).toBe(index % 5 === 0 ? 'cancelled' : 'done');
      expect(samples).toEqual(new Array(index % 5 === 0 ? 500 : 2500).fill(index));
    }
  });

  it('run a higher class first from the next step on', async () => {
    const pool = await startPool();
    const order: string[] = [];
    const run = async (name: string, priority: Priority, steps: number) => {
      for await (const _ of pool.runJob(
        'fake',
        work({ mark: 1, steps, samples: 10, stepMs: 20 }, { priority }),
        never,
      )) {
        order.push(name);
      }
    };
    const batch = run('batch', 'batch', 4);
    await expect.poll(() => order.length).toBeGreaterThan(0);
    await Promise.all([batch, run('live', 'realtime', 2)]);
    const firstLive = order.indexOf('live');
    expect(order.slice(firstLive, firstLive + 2)).toEqual(['live', 'live']);
    expect(firstLive).toBeLessThan(4);
  });

  it('run in the order realtime, interactive, batch, regardless of their arrival', async () => {
    const pool = await startPool();
    const order: string[] = [];
    const run = async (priority: Priority) => {
      for await (const _ of pool.runJob(
        'fake',
        work({ mark: 1, steps: 2, samples: 10 }, { priority }),
        never,
      ))
        order.push(priority);
    };
    // Occupies the process until the other jobs are queued.
    const blocker = pool.runJob('fake', work({ mark: 1, steps: 1, samples: 1, stepMs: 200 }), never);
    const first = blocker.next();
    const queued = (['batch', 'interactive', 'realtime', 'batch', 'interactive', 'realtime'] as const).map(
      run,
    );
    await Promise.all([first, ...queued]);
    const classes = (['realtime', 'interactive', 'batch'] as const).flatMap((it) => new Array(4).fill(it));
    expect(order).toEqual(classes);
  });

  it('have separate queue slots for each class', async () => {
    const pool = await startPool({ queueLimit: 2 });
    const slow = { mark: 1, steps: 100, samples: 10, stepMs: 2 };
    const controller = new AbortController();
    const running = ['a', 'b'].map((fairnessKey) =>
      pool.runJob('fake', work(slow, { priority: 'batch', fairnessKey }), controller.signal),
    );
    await Promise.all(running.map((run) => run.next()));
    const one = { mark: 2, steps: 1, samples: 1 };
    await expect(collect(pool, one, never, { priority: 'batch', fairnessKey: 'c' })).rejects.toMatchObject({
      kind: 'overloaded',
    });
    for (const priority of ['realtime', 'interactive'] as const) {
      expect(await collect(pool, one, never, { priority })).toEqual([2]);
    }
    controller.abort();
  });

  it('are rejected above the queue limit and accepted when a slot is free', async () => {
    const pool = await startPool({ queueLimit: 3 });
    const controller = new AbortController();
    const slow = { mark: 1, steps: 50, samples: 100, stepMs: 5 };
    const running = ['a', 'b', 'c'].map((fairnessKey) =>
      pool.runJob('fake', work(slow, { fairnessKey }), controller.signal),
    );
    await Promise.all(running.map((run) => run.next()));
    await expect(collect(pool, { mark: 2, steps: 1, samples: 1 })).rejects.toMatchObject({
      kind: 'overloaded',
      code: 'server_overloaded',
      retryAfterS: expect.any(Number),
    });
    controller.abort();
    expect(await collect(pool, { mark: 2, steps: 1, samples: 1 })).toEqual([2]);
  });

  it('of one API key use at most half of the queue slots', async () => {
    const pool = await startPool({ queueLimit: 4 });
    const controller = new AbortController();
    const slow = { mark: 1, steps: 50, samples: 100, stepMs: 5 };
    const running = Array.from({ length: 2 }, () => pool.runJob('fake', work(slow), controller.signal));
    await Promise.all(running.map((run) => run.next()));
    await expect(collect(pool, { mark: 2, steps: 1, samples: 1 })).rejects.toMatchObject({
      kind: 'rate_limited',
      code: 'rate_limit_exceeded',
      retryAfterS: expect.any(Number),
    });
    expect(await collect(pool, { mark: 3, steps: 1, samples: 1 }, never, { fairnessKey: 'b' })).toEqual([3]);
    controller.abort();
    expect(await collect(pool, { mark: 2, steps: 1, samples: 1 })).toEqual([2]);
  });
});

describe('cancellation', () => {
  it('fails a queued job immediately', async () => {
    const pool = await startPool();
    const blocker = pool.runJob('fake', work({ mark: 1, steps: 1, samples: 1, stepMs: 300 }), never);
    const order: string[] = [];
    const first = blocker.next().then(() => order.push('step of the other job'));
    const controller = new AbortController();
    const waiting = collect(pool, { mark: 2, steps: 1, samples: 1 }, controller.signal);
    const outcome = expect(waiting).rejects.toThrow('hung up');
    controller.abort(new Error('hung up'));
    await outcome;
    order.push('failure');
    await first;
    expect(order).toEqual(['failure', 'step of the other job']);
  });

  it.each(['abort', 'return'] as const)('runs no further step after %s', async (how) => {
    const steps: string[] = [];
    const meter = { ...poolMeter(noMetrics), stepFinished: () => steps.push('step') };
    const pool = await startPool({ meter });
    const controller = new AbortController();
    const runs = pool.runJob(
      'fake',
      work({ mark: 1, steps: 1000, samples: 10, stepMs: 5 }),
      controller.signal,
    );
    await runs.next();
    if (how === 'abort') controller.abort();
    else await runs.return();
    const before = steps.length;
    await collect(pool, { mark: 2, steps: 1, samples: 1 });
    // The running step, then the two steps of the second job: its only result and its end.
    expect(steps.length - before).toBeLessThanOrEqual(3);
  });
});

describe('a slow reader', () => {
  it('buffers a bounded amount of audio', async () => {
    let steps = 0;
    const pool = await startPool({
      meter: { ...poolMeter(noMetrics), stepFinished: () => (steps += 1) },
    });
    const runs = pool.runJob('fake', work({ mark: 1, steps: 1000, samples: RATE_HZ / 2 }), never);
    await runs.next();
    await expect.poll(() => steps).toBeGreaterThanOrEqual(PREFETCH_MS / 500);
    // Another job runs all its steps while the first waits for its reader.
    await collect(pool, { mark: 2, steps: 30, samples: RATE_HZ });
    expect(steps - 31).toBeLessThanOrEqual(PREFETCH_MS / 500 + 1);
    await runs.return();
  });

  it('buffers a bounded number of results without a duration', async () => {
    let steps = 0;
    const pool = await startPool({
      meter: { ...poolMeter(noMetrics), stepFinished: () => (steps += 1) },
    });
    const request: FakeScript = { mark: 1, steps: 1000, samples: 0, words: true };
    const text = { request, priority: 'interactive', fairnessKey: 'a', delivery: 'text' } as const;
    const results = pool.runJob<FakeScript, string>('fake', text, never);
    await results.next();
    await expect.poll(() => steps).toBeGreaterThan(PREFETCH_RESULTS);
    await collect(pool, { mark: 2, steps: 30, samples: RATE_HZ });
    // One result was read, and the other job ran 30 steps and its final one.
    expect(steps - 31).toBe(PREFETCH_RESULTS + 1);
    await results.return();
  });

  it('receives all samples when it resumes reading', async () => {
    const pool = await startPool();
    let samples = 0;
    for await (const run of pool.runJob('fake', work({ mark: 1, steps: 20, samples: RATE_HZ }), never)) {
      samples += run.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(samples).toBe(20 * RATE_HZ);
  });
});

describe('a crashed process', () => {
  it('fails its open jobs, is replaced, and the queued jobs run', async () => {
    const pool = await startPool();
    const crashing = collect(pool, { mark: 1, steps: 2, samples: 10, stepMs: 20, at: 1, failure: 'exit' });
    const waiting = collect(pool, { mark: 2, steps: 1, samples: 3 }, never, {
      priority: 'batch',
      fairnessKey: 'a',
    });
    await expect(crashing).rejects.toMatchObject({ kind: 'internal', code: 'worker_crashed' });
    expect(pool.ready().ready).toBe(false);
    expect(await waiting).toEqual([2, 2, 2]);
    expect(pool.ready().ready).toBe(true);
  });

  it('does not affect the other processes', async () => {
    const pool = await startPool({ workers: 2 });
    const steady = collect(pool, { mark: 1, steps: 10, samples: 10, stepMs: 10 });
    await expect(
      collect(pool, { mark: 2, steps: 1, samples: 1, at: 0, failure: 'exit' }),
    ).rejects.toMatchObject({ code: 'worker_crashed' });
    expect(pool.ready().ready).toBe(true);
    expect(await steady).toHaveLength(100);
  });

  it('is killed and replaced when a step exceeds the timeout', async () => {
    // Long enough for a step of the second process on a busy machine.
    const pool = await startPool({ stepTimeoutMs: 2000 });
    await expect(
      collect(pool, { mark: 1, steps: 1, samples: 1, at: 0, failure: 'hang' }),
    ).rejects.toMatchObject({ code: 'worker_crashed' });
    expect(await collect(pool, { mark: 2, steps: 1, samples: 1 })).toEqual([2]);
  });

  it('is replaced even when the first restart fails', async () => {
    const pool = await startPool();
    const spawn = vi.spyOn(Bun, 'spawn').mockImplementationOnce(() => {
      throw new Error('EAGAIN');
    });
    onTestFinished(() => spawn.mockRestore());
    const crashing = collect(pool, { mark: 1, steps: 1, samples: 1, stepMs: 20, at: 0, failure: 'exit' });
    const waiting = collect(pool, { mark: 2, steps: 1, samples: 1 });
    expect(await Promise.allSettled([crashing, waiting])).toMatchObject([
      { reason: { code: 'worker_crashed' } },
      // Jobs do not wait for a process that may never start.
      { reason: { kind: 'overloaded', code: 'server_overloaded' } },
    ]);
    await expect.poll(() => pool.ready().ready).toBe(true);
    expect(spawn).toHaveBeenCalledTimes(2);
    expect(await collect(pool, { mark: 3, steps: 1, samples: 1 })).toEqual([3]);
  });

  it('makes the pool reject jobs while the models fail to load, and accept them after the recovery', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pool-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const needsFile = join(folder, 'model');
    await Bun.write(needsFile, '');
    const pool = await startPool({ models: { fake: { needsFile } } });
    await rm(needsFile);
    const crashing = collect(pool, { mark: 1, steps: 1, samples: 1, stepMs: 20, at: 0, failure: 'exit' });
    const waiting = collect(pool, { mark: 2, steps: 1, samples: 1 });
    const outcomes = await Promise.allSettled([crashing, waiting]);
    expect(outcomes).toMatchObject([
      { reason: { code: 'worker_crashed' } },
      { reason: { kind: 'overloaded' } },
    ]);
    expect(pool.ready().ready).toBe(false);
    await expect(collect(pool, { mark: 2, steps: 1, samples: 1 })).rejects.toMatchObject({
      kind: 'overloaded',
    });
    await Bun.write(needsFile, '');
    await expect.poll(() => pool.ready().ready).toBe(true);
    expect(await collect(pool, { mark: 3, steps: 1, samples: 1 })).toEqual([3]);
  });
});

describe('start and close', () => {
  it('rejects the start with the cause when a model cannot be loaded', async () => {
    await expect(startPool({ models: { fake: { loadFailure: 'no such provider' } } })).rejects.toThrow(
      'no such provider',
    );
  });

  it('rejects the start when the first process cannot be spawned', async () => {
    const spawn = vi.spyOn(Bun, 'spawn').mockImplementationOnce(() => {
      throw new Error('EAGAIN');
    });
    onTestFinished(() => spawn.mockRestore());
    await expect(startPool()).rejects.toThrow('EAGAIN');
    expect(spawn).toHaveBeenCalledTimes(1);
  });

  it('kills a process whose load exceeds the timeout', async () => {
    await expect(startPool({ models: { fake: { loadHangs: true } }, loadTimeoutMs: 300 })).rejects.toThrow(
      /The inference process exited before it finished loading \(SIGKILL\)/,
    );
  });

  it('passes only the configured environment to a process', async () => {
    vi.stubEnv('SOME_API_KEY', 'private');
    onTestFinished(() => void vi.unstubAllEnvs());
    const pool = await startPool({
      models: { fake: { environment: ['SHOWN'] } },
      environment: { SHOWN: 'x' },
    });
    expect(pool.ready().ready).toBe(true);
  });

  it('fails running jobs on close and rejects later ones', async () => {
    const pool = await startPool();
    const running = collect(pool, { mark: 1, steps: 100, samples: 10, stepMs: 5 });
    const outcome = expect(running).rejects.toMatchObject({
      kind: 'overloaded',
      code: 'server_overloaded',
    });
    await Bun.sleep(0);
    await pool.close();
    await outcome;
    await expect(collect(pool, { mark: 1, steps: 1, samples: 1 })).rejects.toMatchObject({
      kind: 'overloaded',
    });
    await pool.close();
  });
});

describe('setModels', () => {
  it('logs the progress of each model once, although each process loads all of them', async () => {
    const log = new RecordingLogger();
    await startPool({ log, workers: 2, models: { first: {}, second: { converts: true } } });
    const lines = log.lines.map(({ message, fields }) => `${message}: ${fields.model}`);
    expect(lines.toSorted()).toEqual([
      'converting a model, once on this machine: second',
      'loaded a model: first',
      'loaded a model: second',
      'loading a model: first',
      'loading a model: second',
    ]);
  });

  const TWO = { fake: {}, other: {} };
  const pidScript = { mark: 0, steps: 0, samples: 0, who: true };
  const textJob = (script: FakeScript): JobSpec<FakeScript, string> => ({
    request: script,
    priority: 'interactive',
    fairnessKey: 'a',
    delivery: 'text',
  });
  /** Runs a job and returns the pid of its process. */
  const workerPid = async (pool: StartablePool<FakeSpec>, model = 'fake') => {
    const [pid] = await Array.fromAsync(pool.runJob(model, textJob(pidScript), never));
    return Number(pid);
  };
  const isAlive = (pid: number) => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  it('lets running jobs finish on their process while new processes serve new jobs', async () => {
    const pool = await startPool({ models: TWO, workers: 2 });
    // More results than the job buffers.
    const long = { mark: 1, steps: 200, samples: 0, words: true, who: true };
    const running = pool.runJob('fake', textJob(long), never);
    const before = Number((await running.next()).value);
    let changed = false;
    const others = (async () => {
      let count = 0;
      for (; !changed; count += 1)
        expect(await collect(pool, { mark: 7, steps: 2, samples: 1 })).toEqual([7, 7]);
      return count;
    })();
    await pool.setModels({ fake: {} });
    changed = true;
    expect(await others).toBeGreaterThan(1);
    expect(isAlive(before)).toBe(true);
    expect(await workerPid(pool)).not.toBe(before);
    expect(() => pool.description('other')).toThrow("no model 'other' in the pool");
    await expect(workerPid(pool, 'other')).rejects.toMatchObject({ kind: 'overloaded' });
    expect(await Array.fromAsync(running)).toHaveLength(200);
    await expect.poll(() => isAlive(before)).toBe(false);
  });

  it('stops every process without models and starts them again with models', async () => {
    const pool = await startPool();
    const pid = await workerPid(pool);
    await pool.setModels({});
    expect(isAlive(pid)).toBe(false);
    expect(pool.ready().ready).toBe(false);
    await expect(workerPid(pool)).rejects.toMatchObject({ kind: 'overloaded' });
    await pool.setModels(TWO);
    expect(await workerPid(pool, 'other')).toBeGreaterThan(0);
  });

  it('keeps processes that already have the models', async () => {
    const pool = await startPool({ models: TWO });
    const pid = await workerPid(pool);
    await pool.setModels({ other: {}, fake: {} });
    expect(await workerPid(pool)).toBe(pid);
  });

  it('fails the jobs of a removed model', async () => {
    const pool = await startPool({ models: TWO });
    const running = collect(pool, { mark: 1, steps: 100, samples: 10, stepMs: 5 });
    const outcome = expect(running).rejects.toMatchObject({ kind: 'overloaded' });
    await Bun.sleep(0);
    await pool.setModels({ other: {} });
    await outcome;
    expect(await workerPid(pool, 'other')).toBeGreaterThan(0);
  });

  it('changes nothing when a load fails, and can be retried', async () => {
    const pool = await startPool();
    const pid = await workerPid(pool);
    const changing = pool.setModels({ fake: {}, other: { loadFailure: 'the file is missing' } });
    await expect(changing).rejects.toThrow('the file is missing');
    expect(await workerPid(pool)).toBe(pid);
    await expect(workerPid(pool, 'other')).rejects.toMatchObject({ kind: 'overloaded' });
    await pool.setModels({ fake: {} });
    expect(await workerPid(pool)).toBe(pid);
    await pool.setModels(TWO);
    expect(await workerPid(pool, 'other')).not.toBe(pid);
  });

  it('waits for the processes that the last change retired', async () => {
    const pool = await startPool({ models: TWO });
    const stop = new AbortController();
    const long = { ...pidScript, steps: 200, words: true };
    const unread = pool.runJob('fake', textJob(long), stop.signal);
    const first = Number((await unread.next()).value);
    await pool.setModels({ fake: {} });
    let changed = false;
    const changing = pool.setModels(TWO).then(() => {
      changed = true;
    });
    await workerPid(pool);
    expect([changed, isAlive(first)]).toEqual([false, true]);
    stop.abort(new Error('hung up'));
    await changing;
    expect(isAlive(first)).toBe(false);
    await expect(unread.next()).rejects.toThrow('hung up');
  });

  it('rejects when the pool is closed', async () => {
    const pool = await startPool();
    const changing = pool.setModels({ fake: {}, other: { loadHangs: true } });
    const outcome = expect(changing).rejects.toThrow();
    await workerPid(pool);
    await pool.close();
    await outcome;
  });
});
