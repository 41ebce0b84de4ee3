import type { Redis } from 'ioredis';
import { afterAll, describe, expect, it, onTestFinished, type TestContext, vi } from 'vitest';
import { freshRedis } from '../../test/harness/group-servers.ts';
import { needs } from '../../test/harness/needs.ts';
import { silentLog } from '../../tools/harness/doubles/doubles.ts';
import { ManualClock } from '../../tools/harness/doubles/manual-clock.ts';
import { RecordingLogger } from '../../tools/harness/doubles/recording-logger.ts';
import { HAS_REDIS, startRedis } from '../../tools/harness/servers/redis.ts';
import { newId } from '../contract/core/id.ts';
import { Secret } from '../contract/core/secret.ts';
import { openRedis } from '../redis/open-redis.ts';
import { callLimits, type OpenCallLimits } from './call-limits.ts';
import { PROBE_INTERVAL_MS, RedisCircuitBreaker } from './redis-circuit-breaker.ts';
import { requestLimits } from './request-limits.ts';

const connections: Redis[] = [];
afterAll(() => {
  for (const connection of connections) connection.disconnect();
});

/** Connections of several machines to an empty database. */
async function machines(count: number): Promise<Redis[]> {
  const url = new Secret(await freshRedis());
  const opened = await Promise.all(Array.from({ length: count }, () => openRedis(url)));
  connections.push(...opened);
  return opened;
}

const watched = (redis: Redis) =>
  new RedisCircuitBreaker({ redis, clock: new ManualClock(), log: silentLog });
const user = (keyId: string, organization: string) => ({ keyId, organization });
const REFUSED = { kind: 'rate_limited', code: 'rate_limit_exceeded', retryAfterS: expect.any(Number) };

describe.each(['memory', 'redis'] as const)('requests per minute, counted in %s', (where) => {
  async function setUp(context: TestContext, key: number | undefined, organization: number | undefined) {
    needs(context, where === 'memory' || HAS_REDIS, 'Redis');
    const redis = where === 'redis' ? await machines(2) : [undefined, undefined];
    const limits = { key, organization };
    const [one, other] = redis.map((connection) => requestLimits(limits, connection && watched(connection)));
    if (one === undefined || other === undefined) throw new Error('two machines');
    return { one, other };
  }

  it('are limited per key', async (context) => {
    const { one } = await setUp(context, 2, undefined);
    await one.countRequest(user('k1', 'a'));
    await one.countRequest(user('k1', 'a'));
    await expect(one.countRequest(user('k1', 'a'))).rejects.toMatchObject(REFUSED);
    await one.countRequest(user('k2', 'a'));
  });

  it('are limited per organization across its keys', async (context) => {
    const { one } = await setUp(context, undefined, 2);
    await one.countRequest(user('k1', 'a'));
    await one.countRequest(user('k2', 'a'));
    await expect(one.countRequest(user('k3', 'a'))).rejects.toThrow(
      /^Your organization is limited to 2 requests per minute\. Retry in \d+ s\.$/,
    );
    await one.countRequest(user('k4', 'b'));
  });

  it('are unlimited by default', async (context) => {
    const { one } = await setUp(context, undefined, undefined);
    for (let at = 0; at < 100; at++) await one.countRequest(user('k', 'a'));
  });

  it('are counted together by machines that share a Redis', async (context) => {
    if (where === 'memory') return;
    const { one, other } = await setUp(context, 2, undefined);
    await one.countRequest(user('k', 'a'));
    await other.countRequest(user('k', 'a'));
    await expect(one.countRequest(user('k', 'a'))).rejects.toMatchObject(REFUSED);
  });
});

describe.each(['memory', 'redis'] as const)('concurrent calls, counted in %s', (where) => {
  async function setUp(context: TestContext, key: number | undefined, organization: number | undefined) {
    needs(context, where === 'memory' || HAS_REDIS, 'Redis');
    const clock = new ManualClock();
    const redis = where === 'redis' ? await machines(2) : [undefined, undefined];
    const limits: OpenCallLimits[] = redis.map((connection) =>
      callLimits({ limits: { key, organization }, redis: connection && watched(connection), clock }),
    );
    const [one, other] = limits;
    if (one === undefined || other === undefined) throw new Error('two machines');
    return { one, other, clock };
  }
  const call = () => newId('usage_');

  it('release their slots', async (context) => {
    const { one } = await setUp(context, 2, undefined);
    const leave = await one.acquire(user('k1', 'a'), call());
    await one.acquire(user('k1', 'a'), call());
    await expect(one.acquire(user('k1', 'a'), call())).rejects.toMatchObject(REFUSED);
    await one.acquire(user('k2', 'a'), call());
    leave();
    await expect
      .poll(() =>
        one.acquire(user('k1', 'a'), call()).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
  });

  it('use no slot of the key if the organization has none', async (context) => {
    const { one } = await setUp(context, 2, 1);
    const leave = await one.acquire(user('k1', 'a'), call());
    await expect(one.acquire(user('k2', 'a'), call())).rejects.toThrow(
      'Concurrency limit per organization reached: 1 of 1 calls',
    );
    await expect(one.acquire(user('k2', 'a'), call())).rejects.toThrow(
      'Concurrency limit per organization reached: 1 of 1 calls',
    );
    leave();
    await one.acquire(user('k2', 'b'), call());
    await one.acquire(user('k2', 'c'), call());
    await expect(one.acquire(user('k2', 'd'), call())).rejects.toThrow(
      'Concurrency limit per API key reached: 2 of 2 calls',
    );
  });

  it('never exceed the limit under concurrency', async (context) => {
    const { one, other } = await setUp(context, undefined, 5);
    const all = await Promise.allSettled(
      Array.from({ length: 40 }, (_, at) =>
        (where === 'redis' && at % 2 ? other : one).acquire(user(`k${at}`, 'a'), call()),
      ),
    );
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
  });

  it('of a crashed machine are released after one minute', async (context) => {
    if (where === 'memory') return;
    const { one, other, clock } = await setUp(context, 1, undefined);
    await one.acquire(user('k', 'a'), call());
    one.close();
    await expect(other.acquire(user('k', 'a'), call())).rejects.toMatchObject(REFUSED);
    clock.advance(60_001);
    await other.acquire(user('k', 'a'), call());
  });
});

describe('an unavailable Redis', () => {
  const ONE = { key: 1, organization: undefined };

  async function setUp(context: TestContext) {
    needs(context, HAS_REDIS, 'Redis');
    const own = await startRedis();
    onTestFinished(() => own.close());
    const redis = await openRedis(new Secret(own.url));
    connections.push(redis);
    const clock = new ManualClock();
    const log = new RecordingLogger();
    const failed = vi.fn();
    const watch = new RedisCircuitBreaker({ redis, clock, log, failed });
    const calls = callLimits({ limits: ONE, redis: watch, clock });
    onTestFinished(() => calls.close());
    return { own, redis, clock, log, failed, watch, requests: requestLimits(ONE, watch), calls };
  }

  it('makes each process enforce limits locally', async (context) => {
    const { own, requests, calls, log, failed } = await setUp(context);
    expect(failed).not.toHaveBeenCalled();
    await own.close();
    await requests.countRequest(user('k', 'a'));
    expect(failed).toHaveBeenCalledOnce();
    await expect(requests.countRequest(user('k', 'a'))).rejects.toMatchObject(REFUSED);
    await calls.acquire(user('k', 'a'), newId('usage_'));
    await expect(calls.acquire(user('k', 'a'), newId('usage_'))).rejects.toMatchObject(REFUSED);
    expect(log.lines).toMatchObject([
      { level: 'warn', message: 'Redis unavailable, enforcing limits locally' },
    ]);
  });

  it('delays one request, is probed by one at a time, and is used after recovery', async (context) => {
    const { own, redis, clock, log, failed, requests, calls } = await setUp(context);
    const pings = async () => Number(/cmdstat_ping:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1]);
    const before = await pings();
    const count = (key: number) => requests.countRequest(user(`k${key}`, 'a'));
    own.pause();
    await count(0);
    for (let key = 1; key <= 50; key += 1) {
      await count(key);
      await calls.acquire(user(`k${key}`, 'a'), newId('usage_'));
    }
    // Without the circuit breaker each request would fail after the timeout of one second.
    expect(failed).toHaveBeenCalledOnce();
    for (const round of [100, 200]) {
      clock.advance(PROBE_INTERVAL_MS);
      for (let key = round; key < round + 20; key += 1) await count(key);
    }
    expect(log.lines).toHaveLength(1);
    own.resume();
    await expect.poll(() => log.lines.at(-1)?.message).toBe('Redis recovered');
    expect(await pings()).toBe(before + 1);
    const another = requestLimits(ONE, watched(redis));
    await another.countRequest(user('new', 'a'));
    await expect(requests.countRequest(user('new', 'a'))).rejects.toMatchObject(REFUSED);
  });

  it('fails the start with an error without its address', async () => {
    const opening = openRedis(new Secret('redis://:private@127.0.0.1:1'));
    await expect(opening).rejects.toThrow(/^Environment variable REDIS_URL: cannot connect to Redis/);
    await expect(opening).rejects.not.toThrow('private');
  });
});
