import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { needs } from '../../test/harness/needs.ts';
import { RecordingLogger } from '../../tools/harness/doubles/recording-logger.ts';
import { PATIENCE } from '../../tools/harness/patience.ts';
import { startCutProxy } from '../../tools/harness/servers/cut-proxy.ts';
import { HAS_REDIS, type RedisServer, startRedis } from '../../tools/harness/servers/redis.ts';
import type { JobOutcome, JobQueue } from '../contract/core/jobs.ts';
import { Secret } from '../contract/core/secret.ts';
import { systemClock } from '../kit/clock.ts';
import { openQueueRedis, type Redis } from '../redis/open-redis.ts';
import { bullmqJobs } from './bullmq-jobs.ts';

/**
 * BullMQ cases beyond the shared queue suite: an unresponsive Redis, a Redis that loses its data, and its
 * contents.
 */

/** Redis is unresponsive for longer than a lease in one test; a stall of 2 s costs no lease. */
const TIMING = { leaseMs: 2500, renewalMs: 250, pollMs: 100, firstRetryMs: 50 };
let server: RedisServer;
let queue: JobQueue;
let log: RecordingLogger;
let failures: number;
let openQueue: (url: string) => Promise<JobQueue>;
beforeEach(async (context) => {
  needs(context, HAS_REDIS, 'Redis');
  server = await startRedis();
  log = new RecordingLogger();
  failures = 0;
  const failed = () => {
    failures += 1;
  };
  openQueue = (url) => bullmqJobs({ url: new Secret(url), clock: systemClock, log, timing: TIMING, failed });
  queue = await openQueue(server.url);
});
afterEach(async () => {
  await queue.close();
  await server.close();
});

/** Job runs that last until their signal fires, except the last one, which completes. */
function untilTold(last: number) {
  const runs: AbortSignal[] = [];
  queue.startRunner({
    kind: 'batch',
    concurrency: 1,
    runJob: (_, signal) => {
      runs.push(signal);
      if (runs.length === last) return Promise.resolve<JobOutcome>({ kind: 'done' });
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve({ kind: 'again', delayMs: 0 }), { once: true });
      });
    },
  });
  return runs;
}

describe('Redis', () => {
  it('unresponsive: enqueue fails, the run is aborted and resumes after recovery', async () => {
    const runs = untilTold(2);
    await queue.enqueue('batch', 'a');
    await expect.poll(() => runs).toHaveLength(1);
    server.pause();
    expect(failures).toBe(0);
    await expect(queue.enqueue('batch', 'b')).rejects.toMatchObject({ kind: 'overloaded' });
    expect(failures).toBeGreaterThan(0);
    await expect.poll(() => runs[0]?.aborted).toBe(true);
    server.resume();
    await expect.poll(() => runs).toHaveLength(2);
  });

  it('unresponsive at the first use of a kind: accepts jobs after recovery', async () => {
    server.pause();
    await expect(queue.enqueue('video', 'a')).rejects.toMatchObject({ kind: 'overloaded' });
    server.resume();
    await vi.waitFor(() => queue.enqueue('video', 'a'), PATIENCE);
  });

  it('unavailable at the first use of a kind: enqueue fails', async () => {
    await server.stop();
    await expect(queue.enqueue('video', 'a')).rejects.toMatchObject({ kind: 'overloaded' });
    await server.start();
    await vi.waitFor(() => queue.enqueue('video', 'a'), PATIENCE);
  });

  it('after data loss: jobs can be enqueued again, and the earlier run is aborted', async () => {
    const runs = untilTold(2);
    await queue.enqueue('batch', 'a');
    await expect.poll(() => runs).toHaveLength(1);
    await server.stop();
    await server.start();
    await vi.waitFor(() => queue.enqueue('batch', 'a'), PATIENCE);
    await expect.poll(() => runs[0]?.aborted).toBe(true);
    await expect.poll(() => runs).toHaveLength(2);
  });

  it('unavailable: logged once', async () => {
    untilTold(1);
    await server.stop();
    await expect.poll(() => log.lines).toHaveLength(1);
    // Some more connection attempts.
    const before = failures;
    await expect.poll(() => failures).toBeGreaterThan(before + 3);
    expect(log.lines).toMatchObject([{ level: 'warn', message: 'Redis unavailable, jobs paused' }]);
  });

  it('unavailable for one of the two connections of a runner: logged once', async () => {
    const proxy = await startCutProxy(Number(new URL(server.url).port));
    onTestFinished(() => proxy.close());
    await queue.close();
    queue = await openQueue(`redis://127.0.0.1:${proxy.port}`);
    untilTold(1);
    const redis = await openQueueRedis(new Secret(server.url));
    onTestFinished(() => redis.disconnect());
    const blocked = async () => /^id=(\d+) .* cmd=bzpopmin /m.exec(String(await redis.client('LIST')))?.[1];
    await expect.poll(blocked).toBeDefined();
    proxy.refuse();
    await redis.client('KILL', 'ID', Number(await blocked()));
    await expect.poll(() => failures).toBeGreaterThan(2);
    expect(log.lines).toMatchObject([{ level: 'warn', message: 'Redis unavailable, jobs paused' }]);
  });

  it('stores no error details of failed runs, and nothing of completed jobs', async () => {
    let failed = false;
    queue.startRunner({
      kind: 'batch',
      concurrency: 1,
      async runJob() {
        if (failed) return { kind: 'done' };
        failed = true;
        throw new Error('a private word');
      },
    });
    const redis = await openQueueRedis(new Secret(server.url));
    await queue.enqueue('batch', 'a');
    const ofJob = async () => (await redis.keys('*')).filter((key) => key.endsWith(':a'));
    await expect.poll(async () => await dump(redis)).toContain('job run failed');
    expect(await dump(redis)).not.toContain('private');
    await expect.poll(async () => await ofJob()).toEqual([]);
    redis.disconnect();
    expect(log.lines).toMatchObject([{ level: 'error', fields: { kind: 'batch', job: 'a' } }]);
  });
});

/** All hashes and streams of a Redis, as text. */
async function dump(redis: Redis): Promise<string> {
  const words: unknown[] = [];
  for (const key of await redis.keys('*')) {
    const type = await redis.type(key);
    if (type === 'hash') words.push(await redis.hgetall(key));
    if (type === 'stream') words.push(await redis.xrange(key, '-', '+'));
  }
  return JSON.stringify(words);
}
