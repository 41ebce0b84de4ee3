import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { memoryRecords } from '../../../tools/harness/doubles/memory-records.ts';
import { apiKeyStore } from './api-key-store.ts';
import {
  cachedApiKeyStore,
  KEY_LIFETIME_MS,
  MAX_CACHED_KEYS,
  UNKNOWN_LIFETIME_MS,
} from './cached-api-key-store.ts';

/** A cache over a store that counts the hashes it is queried for. */
function counted() {
  const clock = new ManualClock();
  const inner = apiKeyStore(memoryRecords(), clock);
  const queried: string[] = [];
  /** What a query waits for after it was read. */
  const slow: { until: Promise<void> } = { until: Promise.resolve() };
  const counting: typeof inner = {
    ...inner,
    async findByHashes(keyHashes) {
      queried.push(...keyHashes);
      const found = await inner.findByHashes(keyHashes);
      await slow.until;
      return found;
    },
  };
  return { clock, inner, queried, slow, cached: cachedApiKeyStore(counting, clock) };
}

const key = (keyHash: string) => ({ organization: 'a', keyHash, hint: 'sk-ab…', role: 'member' as const });

describe('a valid key', () => {
  test('is queried once in five seconds, and once by concurrent requests', async () => {
    const { cached, clock, queried, slow } = counted();
    const record = await cached.create(key('h'));
    const { promise, resolve } = Promise.withResolvers<void>();
    slow.until = promise;
    const together = [cached.findByHash('h'), cached.findByHash('h'), cached.findByHash('h')];
    resolve();
    expect(await Promise.all(together)).toEqual([record, record, record]);
    clock.advance(KEY_LIFETIME_MS - 1);
    expect(await cached.findByHash('h')).toEqual(record);
    expect(queried).toEqual(['h']);
    clock.advance(1);
    expect(await cached.findByHash('h')).toEqual(record);
    expect(queried).toEqual(['h', 'h']);
  });

  test('that another process revoked is accepted for at most five seconds', async () => {
    const { cached, clock, inner } = counted();
    const record = await cached.create(key('h'));
    await cached.findByHash('h');
    await inner.revoke(record.id);
    expect(await cached.findByHash('h')).toEqual(record);
    clock.advance(KEY_LIFETIME_MS);
    expect(await cached.findByHash('h')).toBeUndefined();
  });

  test('that this process revoked is rejected although a lookup was in progress', async () => {
    const { cached, slow } = counted();
    const record = await cached.create(key('h'));
    const { promise, resolve } = Promise.withResolvers<void>();
    slow.until = promise;
    const before = cached.findByHash('h');
    await cached.revoke(record.id);
    const after = cached.findByHash('h');
    resolve();
    expect(await before).toEqual(record);
    expect(await after).toBeUndefined();
    expect(await cached.findByHash('h')).toBeUndefined();
  });

  test('stays cached while many unknown keys are looked up', async () => {
    const { cached, queried } = counted();
    await cached.create(key('valid'));
    await cached.findByHash('valid');
    const unknown = Array.from({ length: MAX_CACHED_KEYS + 1 }, (_, index) => `h${index}`);
    await Promise.all(unknown.map(cached.findByHash));
    await cached.findByHash('valid');
    expect(queried.filter((hash) => hash === 'valid')).toHaveLength(1);
  });
});

describe('an unknown key', () => {
  test('is queried once in a second', async () => {
    const { cached, clock, queried } = counted();
    for (let time = 0; time < 3; time += 1) expect(await cached.findByHash('h')).toBeUndefined();
    expect(queried).toEqual(['h']);
    clock.advance(UNKNOWN_LIFETIME_MS);
    await cached.findByHash('h');
    expect(queried).toEqual(['h', 'h']);
  });

  test('is valid immediately when this process creates it, although a lookup was in progress', async () => {
    const { cached, slow } = counted();
    const { promise, resolve } = Promise.withResolvers<void>();
    slow.until = promise;
    const before = cached.findByHash('h');
    const record = await cached.create(key('h'));
    const after = cached.findByHash('h');
    resolve();
    expect(await before).toBeUndefined();
    expect(await after).toEqual(record);
    expect(await cached.findByHash('h')).toEqual(record);
  });

  test('is valid immediately when this process creates it after a lookup', async () => {
    const { cached } = counted();
    expect(await cached.findByHash('h')).toBeUndefined();
    const record = await cached.create(key('h'));
    expect(await cached.findByHash('h')).toEqual(record);
  });

  test('is valid within a second when another process creates it', async () => {
    const { cached, clock, inner } = counted();
    expect(await cached.findByHash('h')).toBeUndefined();
    const record = await inner.create(key('h'));
    clock.advance(UNKNOWN_LIFETIME_MS);
    expect(await cached.findByHash('h')).toEqual(record);
  });

  test('is dropped from the cache as the oldest of too many', async () => {
    const { cached, queried } = counted();
    const unknown = Array.from({ length: MAX_CACHED_KEYS }, (_, index) => `h${index}`);
    for (const keyHash of ['oldest', ...unknown]) await cached.findByHash(keyHash);
    await cached.findByHash('h1');
    await cached.findByHash('oldest');
    expect(queried.slice(-2)).toEqual([unknown.at(-1), 'oldest']);
  });
});

test('a failed query is not cached', async () => {
  const { cached, slow } = counted();
  const record = await cached.create(key('h'));
  slow.until = Promise.reject(new Error('connection lost'));
  await expect(cached.findByHash('h')).rejects.toThrow('connection lost');
  slow.until = Promise.resolve();
  expect(await cached.findByHash('h')).toEqual(record);
});
