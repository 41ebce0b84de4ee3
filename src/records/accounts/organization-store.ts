import type { Kysely } from 'kysely';
import type { Clock } from '../../contract/core/clock.ts';
import type { OrganizationStore } from '../../contract/stores/organization-store.ts';
import { unixSeconds } from '../../kit/clock.ts';
import type { Records } from '../schema/records.ts';
import type { Tables } from '../schema/tables.ts';

/** Organizations. The caller closes `records`. */
export function organizationStore({ db }: Records, clock: Clock): OrganizationStore {
  return {
    async ensure(ids) {
      if (ids.length > 0) await ensureOrganizations(db, ids, unixSeconds(clock));
    },

    list: () =>
      db
        .selectFrom('organizations')
        .leftJoin('api_keys', (join) =>
          join.onRef('api_keys.organization', '=', 'organizations.id').on('api_keys.revoked_at', 'is', null),
        )
        .select(['organizations.id', 'organizations.created_at as createdAt'])
        .select(({ fn }) => fn.count<number>('api_keys.id').as('keys'))
        .groupBy(['organizations.id', 'organizations.created_at'])
        .orderBy('organizations.id')
        .execute(),
  };
}

/**
 * Creates the organizations that do not exist yet, for stores whose rows refer to them.
 * @param at Unix seconds.
 */
export async function ensureOrganizations(
  transaction: Kysely<Tables>,
  ids: readonly string[],
  at: number,
): Promise<void> {
  await transaction
    .insertInto('organizations')
    .values([...new Set(ids)].map((id) => ({ id, created_at: at })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
