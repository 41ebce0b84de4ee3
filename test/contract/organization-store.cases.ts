import { expect, test } from 'vitest';
import type { CreditStore } from '../../src/contract/accounts/accounts-store.ts';
import type { ApiKeyStore } from '../../src/contract/accounts/api-key.ts';
import type { OrganizationStore } from '../../src/contract/stores/organization-store.ts';
import { hashApiKey } from '../../src/kit/keys/api-key.ts';
import type { ManualClock } from '../../tools/harness/doubles/manual-clock.ts';

/** Stores in one database. */
export interface OrganizationStores {
  readonly organizations: OrganizationStore;
  readonly keys: ApiKeyStore;
  readonly credits: CreditStore;
}

/** Contract of the organization store. `open` returns empty stores that read the time from `clock`. */
export function organizationStoreCases(open: () => Promise<OrganizationStores>, clock: ManualClock): void {
  const now = () => Math.floor(clock.now() / 1000);
  const key = (name: string, organization: string) => ({
    organization,
    keyHash: hashApiKey(name),
    hint: 'sk-ab…',
    role: 'member' as const,
  });

  test('are created by their first key, grant or fixed key', async () => {
    const { organizations, keys, credits } = await open();
    const createdAt = now();
    expect(await organizations.list()).toEqual([]);
    await keys.create(key('k1', 'b'));
    clock.advance(5000);
    await credits.grant('a', 5, now());
    await organizations.ensure(['c', 'b', 'c']);
    clock.advance(5000);
    await keys.create(key('k2', 'a'));
    await credits.grant('b', 5, now());
    await organizations.ensure(['a']);
    await organizations.ensure([]);
    expect(await organizations.list()).toEqual([
      { id: 'a', createdAt: createdAt + 5, keys: 1 },
      { id: 'b', createdAt, keys: 1 },
      { id: 'c', createdAt: createdAt + 5, keys: 0 },
    ]);
  });

  test('are listed with the number of their active keys', async () => {
    const { organizations, keys } = await open();
    for (const name of ['k1', 'k2', 'k3']) await keys.create(key(name, 'a'));
    const { id } = await keys.create(key('k4', 'a'));
    await keys.revoke(id);
    expect(await organizations.list()).toMatchObject([{ id: 'a', keys: 3 }]);
  });

  test('are created once by concurrent keys', async () => {
    const { organizations, keys } = await open();
    await Promise.all(['k1', 'k2', 'k3'].map((name) => keys.create(key(name, 'a'))));
    expect(await organizations.list()).toEqual([{ id: 'a', createdAt: now(), keys: 3 }]);
  });
}
