import { describe, expect, test } from 'vitest';
import { apiKeyStoreCases } from '../../test/cases/api-key-store.cases.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import type { ApiKeyStore } from '../contract/api-key.ts';
import { apiKeyStore } from './api-key-store.ts';
import { cachedApiKeyStore, KEY_LIFETIME_MS, MAX_CACHED_KEYS } from './cached-api-key-store.ts';
import { openSqlite } from './sqlite-records.ts';

/** A cache over a store that counts what it is asked for. */
function counted() {
  const clock = new ManualClock();
  const inner = apiKeyStore(openSqlite(':memory:'), clock);
  const asked: string[] = [];
  const slow: { until: Promise<void> } = { until: Promise.resolve() };
  const counting: ApiKeyStore = {
    ...inner,
    async findByHash(keyHash) {
      asked.push(keyHash);
      await slow.until;
      return inner.findByHash(keyHash);
    },
  };
  return { clock, inner, asked, slow, cached: cachedApiKeyStore(counting, clock) };
}

const key = (keyHash: string) => ({ organization: 'a', keyHash, hint: 'sk-ab…', role: 'member' as const });

describe('is a store of API keys', () => {
  const clock = new ManualClock();
  apiKeyStoreCases(async () => cachedApiKeyStore(apiKeyStore(openSqlite(':memory:'), clock), clock), clock);
});

test('a good key is asked for once in five seconds, and once by requests that come together', async () => {
  const { cached, clock, asked, slow } = counted();
  const record = await cached.create(key('h'));
  const { promise, resolve } = Promise.withResolvers<void>();
  slow.until = promise;
  const together = [cached.findByHash('h'), cached.findByHash('h'), cached.findByHash('h')];
  resolve();
  expect(await Promise.all(together)).toEqual([record, record, record]);
  clock.advance(KEY_LIFETIME_MS - 1);
  expect(await cached.findByHash('h')).toEqual(record);
  expect(asked).toEqual(['h']);
  clock.advance(1);
  expect(await cached.findByHash('h')).toEqual(record);
  expect(asked).toEqual(['h', 'h']);
});

test('a key that another process revoked is good for five seconds at most', async () => {
  const { cached, clock, inner } = counted();
  const record = await cached.create(key('h'));
  await cached.findByHash('h');
  await inner.revoke(record.id);
  expect(await cached.findByHash('h')).toEqual(record);
  clock.advance(KEY_LIFETIME_MS);
  expect(await cached.findByHash('h')).toBeUndefined();
});

test('a key that was not found works as soon as it exists', async () => {
  const { cached, inner } = counted();
  expect(await cached.findByHash('h')).toBeUndefined();
  const record = await inner.create(key('h'));
  expect(await cached.findByHash('h')).toEqual(record);
});

test('a failed question is not remembered', async () => {
  const { cached, slow } = counted();
  const record = await cached.create(key('h'));
  slow.until = Promise.reject(new Error('the server is away'));
  await expect(cached.findByHash('h')).rejects.toThrow('the server is away');
  slow.until = Promise.resolve();
  expect(await cached.findByHash('h')).toEqual(record);
});

test('the oldest of too many keys is forgotten', async () => {
  const { cached, asked } = counted();
  await cached.create(key('first'));
  await cached.findByHash('first');
  const others = Array.from({ length: MAX_CACHED_KEYS }, (_, index) => cached.findByHash(`h${index}`));
  // Asked for together with unknown ones that are not answered yet.
  await cached.findByHash('first');
  await Promise.all(others);
  expect(asked.filter((hash) => hash === 'first')).toHaveLength(2);
});
