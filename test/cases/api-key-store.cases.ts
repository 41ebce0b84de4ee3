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
    role: 'member' as const,
  });
  const nowSeconds = () => Math.floor(clock.now() / 1000);

  test('a key is found by its hash alone', async () => {
    const store = await open();
    const record = await store.create(key('k1'));
    expect(record).toEqual({
      id: expect.stringMatching(/^key_[0-9a-f]{32}$/),
      organization: 'a',
      name: null,
      hint: 'sk-ab…',
      role: 'member',
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

  test('a key has the name and the role that it was made with', async () => {
    const store = await open();
    const record = await store.create({ ...key('k1'), role: 'admin', name: 'Reception, Ω' });
    expect(record).toMatchObject({ role: 'admin', name: 'Reception, Ω' });
    expect(await store.findByHash(hashApiKey('k1'))).toEqual(record);
  });

  test('an organization lists its own keys, newest first, page by page', async () => {
    const store = await open();
    const made = [];
    for (const name of ['k1', 'k2', 'k3']) made.push(await store.create(key(name)));
    const foreign = await store.create(key('k4', 'b'));
    const [first, second, third] = made;
    await store.revoke(second?.id ?? '');
    const revoked = { ...second, revokedAt: nowSeconds() };
    const a = { organization: 'a', limit: 2 };
    expect(await store.listOf(a)).toEqual({ keys: [third, revoked], hasMore: true });
    expect(await store.listOf({ ...a, after: second?.id })).toEqual({ keys: [first], hasMore: false });
    expect(await store.listOf({ ...a, limit: 3 })).toMatchObject({ hasMore: false });
    expect(await store.listOf({ organization: 'b', limit: 20 })).toEqual({ keys: [foreign], hasMore: false });
    expect(await store.listOf({ organization: 'c', limit: 20 })).toEqual({ keys: [], hasMore: false });
  });

  test.each(['key_unknown', '', "' OR 1=1 --"])('no page comes after %j', async (after) => {
    const store = await open();
    await expect(store.listOf({ organization: 'a', limit: 20, after })).rejects.toMatchObject({
      kind: 'invalid_request',
      param: 'after',
    });
  });

  test('a key of another organization is neither a place in the list nor revoked', async () => {
    const store = await open();
    const foreign = await store.create(key('k1', 'b'));
    await expect(store.listOf({ organization: 'a', limit: 20, after: foreign.id })).rejects.toMatchObject({
      param: 'after',
    });
    expect(await store.revoke(foreign.id, 'a')).toBe(false);
    expect(await store.findByHash(hashApiKey('k1'))).toEqual(foreign);
    expect(await store.revoke(foreign.id, 'b')).toBe(true);
    expect(await store.findByHash(hashApiKey('k1'))).toBeUndefined();
  });

  test('an organization has no more good keys than it may, however many are made at once', async () => {
    const store = await open();
    const names = ['k1', 'k2', 'k3', 'k4', 'k5'];
    const made = await Promise.allSettled(names.map((name) => store.create(key(name), 3)));
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    const refused = made.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    for (const reason of refused) {
      expect(reason).toMatchObject({ kind: 'invalid_request', code: 'key_limit_exceeded' });
    }
    await store.create(key('k6', 'b'), 3);
    const [good] = (await store.listOf({ organization: 'a', limit: 20 })).keys;
    await store.revoke(good?.id ?? '');
    await store.create(key('k7'), 3);
  });

  test('a key is stored once', async () => {
    const store = await open();
    await store.create(key('k1'));
    await expect(store.create(key('k1', 'b'))).rejects.toThrow();
  });
}
