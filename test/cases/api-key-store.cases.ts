import { expect, test } from 'vitest';
import type { ApiKeyStore } from '../../src/contract/api-key.ts';
import { hashApiKey } from '../../src/kit/api-key.ts';
import type { ManualClock } from '../support/manual-clock.ts';

/** What every store of API keys does. `open` gives an empty one that reads the time from `clock`. */
export function apiKeyStoreCases(open: () => Promise<ApiKeyStore>, clock: ManualClock): void {
  const key = (name: string, organization = 'a') => ({
    organization,
    keyHash: hashApiKey(name),
    hint: 'sk-ab…',
  });
  const nowSeconds = () => Math.floor(clock.now() / 1000);

  test('a key is found by its hash alone', async () => {
    const store = await open();
    const record = await store.create(key('k1'));
    expect(record).toEqual({
      id: expect.stringMatching(/^key_[0-9a-f]{32}$/),
      organization: 'a',
      hint: 'sk-ab…',
      createdAt: nowSeconds(),
      revokedAt: null,
    });
    expect(await store.findByHash(hashApiKey('k1'))).toEqual(record);
    for (const hash of [
      hashApiKey('k2'),
      hashApiKey('k1').slice(0, 63),
      hashApiKey('k1').toUpperCase(),
      '',
      'k1',
      '%',
    ]) {
      expect(await store.findByHash(hash), hash).toBeUndefined();
    }
  });

  test('keys are listed oldest first', async () => {
    const store = await open();
    expect(await store.list()).toEqual([]);
    const first = await store.create(key('k1'));
    clock.advance(1000);
    const second = await store.create(key('k2', 'b'));
    expect(await store.list()).toEqual([first, second]);
    expect(second.createdAt).toBe(first.createdAt + 1);
  });

  test('a revoked key is not found any more, but still listed', async () => {
    const store = await open();
    const record = await store.create(key('k1'));
    clock.advance(5000);
    expect(await store.revoke(record.id)).toBe(true);
    expect(await store.findByHash(hashApiKey('k1'))).toBeUndefined();
    expect(await store.list()).toEqual([{ ...record, revokedAt: nowSeconds() }]);
    expect(await store.revoke(record.id)).toBe(false);
    expect(await store.revoke('key_unknown')).toBe(false);
  });

  test('a key is stored once', async () => {
    const store = await open();
    await store.create(key('k1'));
    await expect(store.create(key('k1', 'b'))).rejects.toThrow();
  });
}
