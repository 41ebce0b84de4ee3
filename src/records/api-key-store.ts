import type { Selectable } from 'kysely';
import type { ApiKeyRecord, ApiKeyStore } from '../contract/api-key.ts';
import type { Clock } from '../contract/clock.ts';
import { newId } from '../contract/id.ts';
import { noteOrganizations } from './organization-store.ts';
import type { Records } from './records.ts';
import type { Tables } from './tables.ts';

const COLUMNS = ['id', 'organization', 'hint', 'created_at', 'revoked_at'] as const;
type Row = Pick<Selectable<Tables['api_keys']>, (typeof COLUMNS)[number]>;

/** API keys; the first one of an organization makes it. The records belong to the caller. */
export function apiKeyStore({ db, read }: Records, clock: Clock): ApiKeyStore {
  const nowSeconds = () => Math.floor(clock.now() / 1000);
  // Every request asks for this, so it is written once; what it is asked for is its one parameter.
  const byHash = db
    .selectFrom('api_keys')
    .select(COLUMNS)
    .where('key_hash', '=', '')
    .where('revoked_at', 'is', null)
    .compile();

  return {
    create: ({ organization, keyHash, hint }) =>
      db.transaction().execute(async (transaction) => {
        const now = nowSeconds();
        await noteOrganizations(transaction, [organization], now);
        const row = await transaction
          .insertInto('api_keys')
          .values({ id: newId('key'), organization, key_hash: keyHash, hint, created_at: now })
          .returning(COLUMNS)
          .executeTakeFirstOrThrow();
        return toRecord(row);
      }),

    async list() {
      const rows = await db.selectFrom('api_keys').select(COLUMNS).orderBy('sequence').execute();
      return rows.map(toRecord);
    },

    async revoke(id) {
      const { numUpdatedRows } = await db
        .updateTable('api_keys')
        .set({ revoked_at: nowSeconds() })
        .where('id', '=', id as Row['id'])
        .where('revoked_at', 'is', null)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async findByHash(keyHash) {
      const [row] = await read<Row>({ ...byHash, parameters: [keyHash] });
      return row && toRecord(row);
    },
  };
}

function toRecord(row: Row): ApiKeyRecord {
  return {
    id: row.id,
    organization: row.organization,
    hint: row.hint,
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
  };
}
