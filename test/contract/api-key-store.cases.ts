import { describe, expect, test } from 'vitest';
import type { ApiKeyStore } from '../../src/contract/accounts/api-key.ts';
import { hashApiKey } from '../../src/kit/keys/api-key.ts';
import type { ManualClock } from '../../tools/harness/doubles/manual-clock.ts';

/** Contract of the API key store. `open` returns an empty store that reads the time from `clock`. */
export function apiKeyStoreCases(open: () => Promise<ApiKeyStore>, clock: ManualClock): void {
  const key = (name: string, organization = 'a') => ({
    organization,
    keyHash: hashApiKey(name),
    hint: 'sk-ab…',
    role: 'member' as const,
  });
  const nowSeconds = () => Math.floor(clock.now() / 1000);

  test('a key is found only by its exact hash', async () => {
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

  test('a key keeps its name and role', async () => {
    const store = await open();
    const record = await store.create({ ...key('k1'), role: 'admin', name: 'Reception, Ω' });
    expect(record).toMatchObject({ role: 'admin', name: 'Reception, Ω' });
    expect(await store.findByHash(hashApiKey('k1'))).toEqual(record);
  });

  test('an organization lists its own keys, newest first, page by page', async () => {
    const store = await open();
    const created = [];
    for (const name of ['k1', 'k2', 'k3']) created.push(await store.create(key(name)));
    const foreign = await store.create(key('k4', 'b'));
    const [first, second, third] = created;
    await store.revoke(second?.id ?? '');
    const revoked = { ...second, revokedAt: nowSeconds() };
    const a = { organization: 'a', limit: 2 };
    expect(await store.listOf(a)).toEqual({ keys: [third, revoked], hasMore: true });
    expect(await store.listOf({ ...a, after: second?.id })).toEqual({ keys: [first], hasMore: false });
    expect(await store.listOf({ ...a, limit: 3 })).toMatchObject({ hasMore: false });
    expect(await store.listOf({ organization: 'b', limit: 20 })).toEqual({ keys: [foreign], hasMore: false });
    expect(await store.listOf({ organization: 'c', limit: 20 })).toEqual({ keys: [], hasMore: false });
  });

  test.each(['key_unknown', '', "' OR 1=1 --"])('rejects the cursor %j', async (after) => {
    const store = await open();
    await expect(store.listOf({ organization: 'a', limit: 20, after })).rejects.toMatchObject({
      kind: 'invalid_request',
      param: 'after',
    });
  });

  test('a key of another organization is rejected as a cursor and cannot be revoked', async () => {
    const store = await open();
    const foreign = await store.create(key('k1', 'b'));
    await expect(store.listOf({ organization: 'a', limit: 20, after: foreign.id })).rejects.toMatchObject({
      param: 'after',
    });
    for (const keepAdmin of [true, false]) {
      expect(await store.revoke(foreign.id, { organization: 'a', keepAdmin })).toBe(false);
    }
    expect(await store.findByHash(hashApiKey('k1'))).toEqual(foreign);
    expect(await store.revoke(foreign.id, { organization: 'b', keepAdmin: true })).toBe(true);
    expect(await store.findByHash(hashApiKey('k1'))).toBeUndefined();
  });

  test('concurrent creations never exceed the limit of active keys of an organization', async () => {
    const store = await open();
    const names = ['k1', 'k2', 'k3', 'k4', 'k5'];
    const created = await Promise.allSettled(names.map((name) => store.create(key(name), 3)));
    expect(created.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    const rejected = created.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    for (const reason of rejected) {
      expect(reason).toMatchObject({ kind: 'invalid_request', code: 'key_limit_exceeded' });
    }
    await store.create(key('k6', 'b'), 3);
    const [active] = (await store.listOf({ organization: 'a', limit: 20 })).keys;
    await store.revoke(active?.id ?? '');
    await store.create(key('k7'), 3);
  });

  describe('the last admin key', () => {
    const admin = (name: string, organization = 'a') => ({
      ...key(name, organization),
      role: 'admin' as const,
    });
    const keepAdmin = { organization: 'a', keepAdmin: true };
    const LAST = { kind: 'conflict', code: 'last_admin_key', param: 'key_id' };

    test('stays active where the revocation must leave an admin', async () => {
      const store = await open();
      // Neither of these is another active admin key of the organization.
      await store.create(key('member'));
      await store.create(admin('foreign', 'b'));
      const former = await store.create(admin('former'));
      const last = await store.create(admin('last'));
      expect(await store.revoke(former.id, keepAdmin)).toBe(true);
      expect(await store.revoke(former.id, keepAdmin)).toBe(false);
      await expect(store.revoke(last.id, keepAdmin)).rejects.toMatchObject(LAST);
      expect(await store.findByHash(hashApiKey('last'))).toEqual(last);
    });

    test('is revoked where the revocation need not leave an admin', async () => {
      const store = await open();
      const [first, second] = [await store.create(admin('k1')), await store.create(admin('k2', 'b'))];
      expect(await store.revoke(first.id, { organization: 'a', keepAdmin: false })).toBe(true);
      expect(await store.revoke(second.id)).toBe(true);
    });

    test('stays active when all admin keys are revoked concurrently', async () => {
      const store = await open();
      for (let round = 0; round < 40; round += 1) {
        const names = ['k1', 'k2', 'k3'].slice(round % 2).map((name) => `${name} of round ${round}`);
        const admins = await Promise.all(names.map((name) => store.create(admin(name))));
        // The active key of the previous round.
        const [remaining] = (await store.list()).filter(
          ({ id, revokedAt }) => revokedAt === null && !admins.some((other) => other.id === id),
        );
        if (remaining !== undefined) await store.revoke(remaining.id);
        const outcomes = await Promise.allSettled(admins.map(({ id }) => store.revoke(id, keepAdmin)));
        const rejected = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
        expect(rejected).toEqual([expect.objectContaining(LAST)]);
        const active = (await store.list()).filter(({ revokedAt }) => revokedAt === null);
        expect(active).toHaveLength(1);
      }
    });

    test('one admin key is revoked once by concurrent revocations', async () => {
      const store = await open();
      await store.create(admin('stays'));
      const { id } = await store.create(admin('k1'));
      const outcomes = await Promise.all(Array.from({ length: 5 }, () => store.revoke(id, keepAdmin)));
      expect(outcomes.filter(Boolean)).toHaveLength(1);
    });
  });

  test('a key cannot be stored twice', async () => {
    const store = await open();
    await store.create(key('k1'));
    await expect(store.create(key('k1', 'b'))).rejects.toThrow();
  });
}
