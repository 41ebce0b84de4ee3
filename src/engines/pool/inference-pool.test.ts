import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { FakeDescription, FakeScript, FakeSpec } from '../../../test/doubles/fake-inference-worker.ts';
import { noMetrics, silentLog } from '../../../tools/harness/doubles/doubles.ts';
import type { Float32Samples } from '../../contract/engines/audio.ts';
import type { Priority } from '../../contract/engines/engine.ts';
import { systemClock } from '../../kit/clock.ts';
import { type InferencePoolOptions, inferencePool, type StartablePool } from './inference-pool.ts';
import { type PassWork, PREFETCH_MS, PREFETCH_RESULTS } from './job.ts';
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
  await pool.hold(models);
  return pool;
}

type Fields = Partial<
  Pick<PassWork<FakeScript, Float32Samples>, 'priority' | 'owner' | 'delivery' | 'aheadMs'>
>;

function work(script: FakeScript, fields: Fields = {}): PassWork<FakeScript, Float32Samples> {
  return {
    request: script,
    ...{ priority: 'interactive', owner: 'a', delivery: 'stream', ...fields },
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
  for await (const run of pool.run('fake', work(script, fields), signal)) samples.push(...run);
  return samples;
}

describe('one job', () => {
  it('gives the samples of every pass in order', async () => {
    const pool = await startPool();
    expect(pool.description<FakeDescription>('fake')).toEqual({ rateHz: RATE_HZ });
    expect(() => pool.description('other')).toThrow("no model 'other' in the pool");
    expect(await collect(pool, { mark: 7, passes: 3, samples: 30_000 })).toEqual(new Array(90_000).fill(7));
  });

  it('carries 30 s of audio to the model and text back', async () => {
    const pool = await startPool();
    const request: FakeScript = {
      mark: 4,
      passes: 2,
      samples: 0,
      words: true,
      audio: new Float32Array(480_000).fill(0.5),
    };
    const results: string[] = [];
    const text = { request, priority: 'interactive', owner: 'a', delivery: 'text' } as const;
    for await (const result of pool.run<FakeScript, string>('fake', text, never)) results.push(result);
    expect(results).toEqual(['480000 240000', '4.0', '4.1']);
  });

  it('ends without samples when there is nothing to say', async () => {
    const pool = await startPool();
    expect(await collect(pool, { mark: 1, passes: 0, samples: 0 })).toEqual([]);
  });

  it('fails without its cause when a pass throws, and the pool goes on', async () => {
    const pool = await startPool();
    await expect(
      collect(pool, { mark: 1, passes: 2, samples: 10, at: 1, fault: 'throw' }),
    ).rejects.toMatchObject({ kind: 'internal', message: 'The model failed on this input.' });
    expect(await collect(pool, { mark: 2, passes: 1, samples: 2 })).toEqual([2, 2]);
  });

  it('does nothing when its signal has fired before', async () => {
    const pool = await startPool();
    const reason = new Error('gone');
    await expect(collect(pool, { mark: 1, passes: 1, samples: 1 }, AbortSignal.abort(reason))).rejects.toBe(
      reason,
    );
  });
});

describe('many jobs', () => {
  it('mixes no audio and lets none hang among 100 of which some are cancelled', async () => {
    const pool = await startPool({ workers: 2 });
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        const controller = new AbortController();
        const script = { mark: index, passes: 5, samples: 500, passMs: 1 };
        const delivery = index % 2 === 0 ? 'stream' : 'whole';
        const priority = (['realtime', 'interactive', 'batch'] as const)[index % 3] ?? 'batch';
        const samples: number[] = [];
        try {
          const runs = pool.run('fake', work(script, { delivery, priority }), controller.signal);
          for await (const run of runs) {
            samples.push(...run);
            if (index % 5 === 0) controller.abort(new Error('cancelled'));
          }
          return { index, samples, ended: 'done' };
        } catch (error) {
          return { index, samples, ended: (error as Error).message };
        }
      }),
    );
    for (const { index, samples, ended } of outcomes) {
      expect(ended).toBe(index % 5 === 0 ? 'cancelled' : 'done');
      expect(samples).toEqual(new Array(index % 5 === 0 ? 500 : 2500).fill(index));
    }
  });

  it('runs a higher class first at the next pass boundary', async () => {
    const pool = await startPool();
    const order: string[] = [];
    const run = async (name: string, priority: Priority, passes: number) => {
      for await (const _ of pool.run(
        'fake',
        work({ mark: 1, passes, samples: 10, passMs: 20 }, { priority }),
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

  it('runs realtime before interactive before batch, whatever came first', async () => {
    const pool = await startPool();
    const order: string[] = [];
    const run = async (priority: Priority) => {
      for await (const _ of pool.run('fake', work({ mark: 1, passes: 2, samples: 10 }, { priority }), never))
        order.push(priority);
    };
    // Holds the process until the others stand in line.
    const blocker = pool.run('fake', work({ mark: 1, passes: 1, samples: 1, passMs: 200 }), never);
    const first = blocker.next();
    const lined = (['batch', 'interactive', 'realtime', 'batch', 'interactive', 'realtime'] as const).map(
      run,
    );
    await Promise.all([first, ...lined]);
    const classes = (['realtime', 'interactive', 'batch'] as const).flatMap((it) => new Array(4).fill(it));
    expect(order).toEqual(classes);
  });

  it('keeps places for each class: one that is full shuts out no other', async () => {
    const pool = await startPool({ queueLimit: 2 });
    const slow = { mark: 1, passes: 100, samples: 10, passMs: 2 };
    const controller = new AbortController();
    const held = ['a', 'b'].map((owner) =>
      pool.run('fake', work(slow, { priority: 'batch', owner }), controller.signal),
    );
    await Promise.all(held.map((run) => run.next()));
    const one = { mark: 2, passes: 1, samples: 1 };
    await expect(collect(pool, one, never, { priority: 'batch', owner: 'c' })).rejects.toMatchObject({
      kind: 'overloaded',
    });
    for (const priority of ['realtime', 'interactive'] as const) {
      expect(await collect(pool, one, never, { priority })).toEqual([2]);
    }
    controller.abort();
  });

  it('refuses one more than its limit and takes it when a place is free', async () => {
    const pool = await startPool({ queueLimit: 3 });
    const controller = new AbortController();
    const slow = { mark: 1, passes: 50, samples: 100, passMs: 5 };
    const held = ['a', 'b', 'c'].map((owner) => pool.run('fake', work(slow, { owner }), controller.signal));
    await Promise.all(held.map((run) => run.next()));
    await expect(collect(pool, { mark: 2, passes: 1, samples: 1 })).rejects.toMatchObject({
      kind: 'overloaded',
      code: 'server_overloaded',
      retryAfterS: expect.any(Number),
    });
    controller.abort();
    expect(await collect(pool, { mark: 2, passes: 1, samples: 1 })).toEqual([2]);
  });

  it('leaves half of its places to others than the one who asks for most', async () => {
    const pool = await startPool({ queueLimit: 4 });
    const controller = new AbortController();
    const slow = { mark: 1, passes: 50, samples: 100, passMs: 5 };
    const held = Array.from({ length: 2 }, () => pool.run('fake', work(slow), controller.signal));
    await Promise.all(held.map((run) => run.next()));
    await expect(collect(pool, { mark: 2, passes: 1, samples: 1 })).rejects.toMatchObject({
      kind: 'rate_limited',
      code: 'rate_limit_exceeded',
      retryAfterS: expect.any(Number),
    });
    expect(await collect(pool, { mark: 3, passes: 1, samples: 1 }, never, { owner: 'b' })).toEqual([3]);
    controller.abort();
    expect(await collect(pool, { mark: 2, passes: 1, samples: 1 })).toEqual([2]);
  });
});

describe('cancellation', () => {
  it('ends a job that waits in the queue at once', async () => {
    const pool = await startPool();
    const blocker = pool.run('fake', work({ mark: 1, passes: 1, samples: 1, passMs: 300 }), never);
    const first = blocker.next();
    const controller = new AbortController();
    const waiting = collect(pool, { mark: 2, passes: 1, samples: 1 }, controller.signal);
    const outcome = expect(waiting).rejects.toThrow('hung up');
    const startedMs = performance.now();
    controller.abort(new Error('hung up'));
    await outcome;
    expect(performance.now() - startedMs).toBeLessThan(100);
    await first;
  });

  it.each(['abort', 'return'] as const)('runs no further pass after %s', async (how) => {
    const passes: string[] = [];
    const meter = { ...poolMeter(noMetrics), passed: () => passes.push('pass') };
    const pool = await startPool({ meter });
    const controller = new AbortController();
    const runs = pool.run('fake', work({ mark: 1, passes: 1000, samples: 10, passMs: 5 }), controller.signal);
    await runs.next();
    if (how === 'abort') controller.abort();
    else await runs.return();
    const before = passes.length;
    await collect(pool, { mark: 2, passes: 1, samples: 1 });
    // The pass that was running, then the two of the second job: its only one and its end.
    expect(passes.length - before).toBeLessThanOrEqual(3);
  });
});

describe('a slow reader', () => {
  it('holds a bounded amount of audio', async () => {
    let passes = 0;
    const pool = await startPool({
      meter: { ...poolMeter(noMetrics), passed: () => (passes += 1) },
    });
    const runs = pool.run('fake', work({ mark: 1, passes: 1000, samples: RATE_HZ / 2 }), never);
    await runs.next();
    await expect.poll(() => passes).toBeGreaterThanOrEqual(PREFETCH_MS / 500);
    // Another job gets all its turns while the first waits for its reader.
    await collect(pool, { mark: 2, passes: 30, samples: RATE_HZ });
    expect(passes - 31).toBeLessThanOrEqual(PREFETCH_MS / 500 + 1);
    await runs.return();
  });

  it('holds a bounded number of results without length', async () => {
    let passes = 0;
    const pool = await startPool({
      meter: { ...poolMeter(noMetrics), passed: () => (passes += 1) },
    });
    const request: FakeScript = { mark: 1, passes: 1000, samples: 0, words: true };
    const text = { request, priority: 'interactive', owner: 'a', delivery: 'text' } as const;
    const results = pool.run<FakeScript, string>('fake', text, never);
    await results.next();
    await expect.poll(() => passes).toBeGreaterThan(PREFETCH_RESULTS);
    await collect(pool, { mark: 2, passes: 30, samples: RATE_HZ });
    // One result was read, and the other job had 30 passes and its end.
    expect(passes - 31).toBe(PREFETCH_RESULTS + 1);
    await results.return();
  });

  it('hears everything when it reads on', async () => {
    const pool = await startPool();
    let samples = 0;
    for await (const run of pool.run('fake', work({ mark: 1, passes: 20, samples: RATE_HZ }), never)) {
      samples += run.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(samples).toBe(20 * RATE_HZ);
  });
});

describe('a process that dies', () => {
  it('fails its requests, lets the waiting ones live, and is replaced', async () => {
    const pool = await startPool();
    const dying = collect(pool, { mark: 1, passes: 2, samples: 10, passMs: 20, at: 1, fault: 'exit' });
    const waiting = collect(pool, { mark: 2, passes: 1, samples: 3 }, never, {
      priority: 'batch',
      owner: 'a',
    });
    await expect(dying).rejects.toMatchObject({ kind: 'internal', code: 'worker_crashed' });
    expect(pool.ready().ready).toBe(false);
    expect(await waiting).toEqual([2, 2, 2]);
    expect(pool.ready().ready).toBe(true);
  });

  it('leaves the other processes alone', async () => {
    const pool = await startPool({ workers: 2 });
    const steady = collect(pool, { mark: 1, passes: 10, samples: 10, passMs: 10 });
    await expect(
      collect(pool, { mark: 2, passes: 1, samples: 1, at: 0, fault: 'exit' }),
    ).rejects.toMatchObject({ code: 'worker_crashed' });
    expect(pool.ready().ready).toBe(true);
    expect(await steady).toHaveLength(100);
  });

  it('is killed when a pass hangs', async () => {
    const pool = await startPool({ passLimitMs: 150 });
    await expect(
      collect(pool, { mark: 1, passes: 1, samples: 1, at: 0, fault: 'hang' }),
    ).rejects.toMatchObject({ code: 'worker_crashed' });
    expect(await collect(pool, { mark: 2, passes: 1, samples: 1 })).toEqual([2]);
  });

  it('is replaced even when a new one cannot be started at once', async () => {
    const pool = await startPool();
    const spawn = vi.spyOn(Bun, 'spawn').mockImplementationOnce(() => {
      throw new Error('EAGAIN');
    });
    onTestFinished(() => spawn.mockRestore());
    const dying = collect(pool, { mark: 1, passes: 1, samples: 1, passMs: 20, at: 0, fault: 'exit' });
    const waiting = collect(pool, { mark: 2, passes: 1, samples: 1 });
    expect(await Promise.allSettled([dying, waiting])).toMatchObject([
      { reason: { code: 'worker_crashed' } },
      // Nobody waits for a process that may never come.
      { reason: { kind: 'overloaded', code: 'server_overloaded' } },
    ]);
    await expect.poll(() => pool.ready().ready, { timeout: 5000 }).toBe(true);
    expect(spawn).toHaveBeenCalledTimes(2);
    expect(await collect(pool, { mark: 3, passes: 1, samples: 1 })).toEqual([3]);
  });

  it('turns requests away while its models cannot be loaded, and comes back', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pool-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const needsFile = join(folder, 'model');
    await Bun.write(needsFile, '');
    const pool = await startPool({ models: { fake: { needsFile } } });
    await rm(needsFile);
    const dying = collect(pool, { mark: 1, passes: 1, samples: 1, passMs: 20, at: 0, fault: 'exit' });
    const waiting = collect(pool, { mark: 2, passes: 1, samples: 1 });
    const outcomes = await Promise.allSettled([dying, waiting]);
    expect(outcomes).toMatchObject([
      { reason: { code: 'worker_crashed' } },
      { reason: { kind: 'overloaded' } },
    ]);
    expect(pool.ready().ready).toBe(false);
    await expect(collect(pool, { mark: 2, passes: 1, samples: 1 })).rejects.toMatchObject({
      kind: 'overloaded',
    });
    await Bun.write(needsFile, '');
    await expect.poll(() => pool.ready().ready, { timeout: 5000 }).toBe(true);
    expect(await collect(pool, { mark: 3, passes: 1, samples: 1 })).toEqual([3]);
  });
});

describe('start and end', () => {
  it('does not start when a model cannot be loaded, and says why', async () => {
    await expect(startPool({ models: { fake: { loadFailure: 'no such provider' } } })).rejects.toThrow(
      'no such provider',
    );
  });

  it('does not start when the first process cannot be started', async () => {
    const spawn = vi.spyOn(Bun, 'spawn').mockImplementationOnce(() => {
      throw new Error('EAGAIN');
    });
    onTestFinished(() => spawn.mockRestore());
    await expect(startPool()).rejects.toThrow('EAGAIN');
    expect(spawn).toHaveBeenCalledTimes(1);
  });

  it('gives a load up that hangs', async () => {
    await expect(startPool({ models: { fake: { loadHangs: true } }, loadLimitMs: 300 })).rejects.toThrow(
      /The inference process ended before it had loaded \(SIGKILL\)/,
    );
  });

  it('lends a process nothing of the environment but what it is told to', async () => {
    vi.stubEnv('SOME_API_KEY', 'private');
    onTestFinished(() => void vi.unstubAllEnvs());
    const pool = await startPool({
      models: { fake: { environment: ['SHOWN'] } },
      environment: { SHOWN: 'x' },
    });
    expect(pool.ready().ready).toBe(true);
  });

  it('fails what is running when it is closed, and refuses what comes later', async () => {
    const pool = await startPool();
    const running = collect(pool, { mark: 1, passes: 100, samples: 10, passMs: 5 });
    const outcome = expect(running).rejects.toMatchObject({
      kind: 'overloaded',
      code: 'server_overloaded',
    });
    await Bun.sleep(0);
    await pool.close();
    await outcome;
    await expect(collect(pool, { mark: 1, passes: 1, samples: 1 })).rejects.toMatchObject({
      kind: 'overloaded',
    });
    await pool.close();
  });
});

describe('a change of models', () => {
  const TWO = { fake: {}, other: {} };
  const ask = { mark: 0, passes: 0, samples: 0, who: true };
  const words = (script: FakeScript): PassWork<FakeScript, string> => ({
    request: script,
    ...{ priority: 'interactive', owner: 'a', delivery: 'text' },
  });
  /** The process that does the next job. */
  const who = async (pool: StartablePool<FakeSpec>, model = 'fake') => {
    const [pid] = await Array.fromAsync(pool.run(model, words(ask), never));
    return Number(pid);
  };
  const lives = (pid: number) => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  it('loses no job: what runs ends where it began, what comes goes on beside it', async () => {
    const pool = await startPool({ models: TWO, workers: 2 });
    // More than is made ahead of who reads it.
    const long = { mark: 1, passes: 200, samples: 0, words: true, who: true };
    const running = pool.run('fake', words(long), never);
    const before = Number((await running.next()).value);
    let left = false;
    const others = (async () => {
      let count = 0;
      for (; !left; count += 1)
        expect(await collect(pool, { mark: 7, passes: 2, samples: 1 })).toEqual([7, 7]);
      return count;
    })();
    await pool.hold({ fake: {} });
    left = true;
    expect(await others).toBeGreaterThan(1);
    expect(lives(before)).toBe(true);
    expect(await who(pool)).not.toBe(before);
    expect(() => pool.description('other')).toThrow("no model 'other' in the pool");
    await expect(who(pool, 'other')).rejects.toMatchObject({ kind: 'overloaded' });
    expect(await Array.fromAsync(running)).toHaveLength(200);
    await expect.poll(() => lives(before)).toBe(false);
  });

  it('ends every process where no model is left, and starts them again', async () => {
    const pool = await startPool();
    const pid = await who(pool);
    await pool.hold({});
    expect(lives(pid)).toBe(false);
    expect(pool.ready().ready).toBe(false);
    await expect(who(pool)).rejects.toMatchObject({ kind: 'overloaded' });
    await pool.hold(TWO);
    expect(await who(pool, 'other')).toBeGreaterThan(0);
  });

  it('leaves processes alone that have the models already', async () => {
    const pool = await startPool({ models: TWO });
    const pid = await who(pool);
    await pool.hold({ other: {}, fake: {} });
    expect(await who(pool)).toBe(pid);
  });

  it('fails the jobs of a model that is left out', async () => {
    const pool = await startPool({ models: TWO });
    const running = collect(pool, { mark: 1, passes: 100, samples: 10, passMs: 5 });
    const outcome = expect(running).rejects.toMatchObject({ kind: 'overloaded' });
    await Bun.sleep(0);
    await pool.hold({ other: {} });
    await outcome;
    expect(await who(pool, 'other')).toBeGreaterThan(0);
  });

  it('changes nothing when a load fails, and can be tried again', async () => {
    const pool = await startPool();
    const pid = await who(pool);
    const holding = pool.hold({ fake: {}, other: { loadFailure: 'the file is missing' } });
    await expect(holding).rejects.toThrow('the file is missing');
    expect(await who(pool)).toBe(pid);
    await expect(who(pool, 'other')).rejects.toMatchObject({ kind: 'overloaded' });
    await pool.hold({ fake: {} });
    expect(await who(pool)).toBe(pid);
    await pool.hold(TWO);
    expect(await who(pool, 'other')).not.toBe(pid);
  });

  it('waits for the processes of the last change, so that there are never more than twice as many', async () => {
    const pool = await startPool({ models: TWO });
    const stop = new AbortController();
    const long = { ...ask, passes: 200, words: true };
    const unread = pool.run('fake', words(long), stop.signal);
    const first = Number((await unread.next()).value);
    await pool.hold({ fake: {} });
    let changed = false;
    const changing = pool.hold(TWO).then(() => {
      changed = true;
    });
    await who(pool);
    expect([changed, lives(first)]).toEqual([false, true]);
    stop.abort(new Error('hung up'));
    await changing;
    expect(lives(first)).toBe(false);
    await expect(unread.next()).rejects.toThrow('hung up');
  });

  it('is broken off by the end of the pool', async () => {
    const pool = await startPool();
    const holding = pool.hold({ fake: {}, other: { loadHangs: true } });
    const outcome = expect(holding).rejects.toThrow();
    await who(pool);
    await pool.close();
    await outcome;
  });
});
