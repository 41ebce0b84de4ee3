import type { Kysely, Selectable } from 'kysely';
import type { ApiKeyRecord, ApiKeyStore } from '../../contract/accounts/api-key.ts';
import type { Clock } from '../../contract/core/clock.ts';
import { invalidRequest, ServiceError } from '../../contract/core/error.ts';
import { newId } from '../../contract/core/id.ts';
import type { Records } from '../schema/records.ts';
import type { Tables } from '../schema/tables.ts';
import { lockOrganization } from './organization-lock.ts';
import { ensureOrganizations } from './organization-store.ts';

const COLUMNS = ['id', 'organization', 'name', 'hint', 'role', 'created_at', 'revoked_at'] as const;
type Row = Pick<Selectable<Tables['api_keys']>, (typeof COLUMNS)[number]>;

/** Looks up several keys in one query. */
export interface ApiKeyLookup {
  /** @returns active keys by their hashes; a hash without one is left out. */
  findByHashes(keyHashes: readonly string[]): Promise<ReadonlyMap<string, ApiKeyRecord>>;
}

/** API keys. The first key of an organization creates the organization. The caller closes `records`. */
export function apiKeyStore({ db, engine, read }: Records, clock: Clock): ApiKeyStore & ApiKeyLookup {
  const nowSeconds = () => Math.floor(clock.now() / 1000);
  // Compiled once, because every request runs it. Its only parameter is the hash.
  const byHash = db
    .selectFrom('api_keys')
    .select(COLUMNS)
    .where('key_hash', '=', '')
    .where('revoked_at', 'is', null)
    .compile();

  return {
    create: ({ organization, keyHash, hint, role, name = null }, maxKeys) =>
      db.transaction().execute(async (transaction) => {
        const now = nowSeconds();
        await ensureOrganizations(transaction, [organization], now);
        if (maxKeys !== undefined) {
          await lockOrganization(engine, transaction, organization, 'keys');
          await checkKeyQuota(transaction, organization, maxKeys);
        }
        const row = await transaction
          .insertInto('api_keys')
          .values({ id: newId('key_'), organization, key_hash: keyHash, name, hint, role, created_at: now })
          .returning(COLUMNS)
          .executeTakeFirstOrThrow();
        return toRecord(row);
      }),

    async list() {
      const rows = await db.selectFrom('api_keys').select(COLUMNS).orderBy('sequence').execute();
      return rows.map(toRecord);
    },

    async listOf({ organization, limit, after }) {
      let page = db.selectFrom('api_keys').select(COLUMNS).where('organization', '=', organization);
      if (after !== undefined) {
        const found = await db
          .selectFrom('api_keys')
          .select('sequence')
          .where('id', '=', after as Row['id'])
          .where('organization', '=', organization)
          .executeTakeFirst();
        if (found === undefined) {
          throw invalidRequest("'after' must be the id of one of your keys.", 'after', 'invalid_value');
        }
        page = page.where('sequence', '<', found.sequence);
      }
      // One row more than the limit shows whether there is another page.
      const rows = await page
        .orderBy('sequence', 'desc')
        .limit(limit + 1)
        .execute();
      return { keys: rows.slice(0, limit).map(toRecord), hasMore: rows.length > limit };
    },

    revoke: (id, scope) =>
      db.transaction().execute(async (transaction) => {
        let active = transaction
          .updateTable('api_keys')
          .set({ revoked_at: nowSeconds() })
          .where('id', '=', id as Row['id'])
          .where('revoked_at', 'is', null)
          .returning('role');
        if (scope !== undefined) {
          await lockOrganization(engine, transaction, scope.organization, 'keys');
          active = active.where('organization', '=', scope.organization);
        }
        const revoked = await active.executeTakeFirst();
        if (scope?.keepAdmin && revoked?.role === 'admin')
          await requireAdmin(transaction, scope.organization);
        return revoked !== undefined;
      }),

    async findByHash(keyHash) {
      const [row] = await read<Row>({ ...byHash, parameters: [keyHash] });
      return row && toRecord(row);
    },

    async findByHashes(keyHashes) {
      const rows = await db
        .selectFrom('api_keys')
        .select([...COLUMNS, 'key_hash'])
        .where('key_hash', 'in', keyHashes)
        .where('revoked_at', 'is', null)
        .execute();
      return new Map(rows.map((row) => [row.key_hash, toRecord(row)]));
    },
  };
}

/** @throws ServiceError `key_limit_exceeded` when the organization has reached its maximum number of active keys. */
async function checkKeyQuota(
  transaction: Kysely<Tables>,
  organization: string,
  maxKeys: number,
): Promise<void> {
  const { active } = await transaction
    .selectFrom('api_keys')
    .select(({ fn }) => fn.countAll<number>().as('active'))
    .where('organization', '=', organization)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow();
  if (active < maxKeys) return;
  throw invalidRequest(
    `Your organization has ${active} of at most ${maxKeys} active keys. Revoke a key first.`,
    undefined,
    'key_limit_exceeded',
  );
}

/** @throws ServiceError `last_admin_key` when the organization has no active admin key. */
async function requireAdmin(transaction: Kysely<Tables>, organization: string): Promise<void> {
  const admin = await transaction
    .selectFrom('api_keys')
    .select('id')
    .where('organization', '=', organization)
    .where('role', '=', 'admin')
    .where('revoked_at', 'is', null)
    .limit(1)
    .executeTakeFirst();
  if (admin !== undefined) return;
  throw new ServiceError(
    'conflict',
    'This is the last active admin key of your organization. Create another admin key first.',
    { param: 'key_id', code: 'last_admin_key' },
  );
}

function toRecord(row: Row): ApiKeyRecord {
  return {
    id: row.id,
    organization: row.organization,
    name: row.name,
    hint: row.hint,
    role: row.role,
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
  };
}
