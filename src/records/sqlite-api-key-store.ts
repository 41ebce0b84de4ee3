import type { Database } from 'bun:sqlite';
import type { ApiKeyRecord, ApiKeyStore } from '../contract/api-key.ts';
import type { Clock } from '../contract/clock.ts';
import { type Id, newId } from '../contract/id.ts';
import { whenFree } from './when-free.ts';

interface Row {
  id: Id<'key'>;
  organization: string;
  hint: string;
  created_at: number;
  revoked_at: number | null;
}

const COLUMNS = 'id, organization, hint, created_at, revoked_at';

/** API keys in SQLite. The database belongs to the caller. */
export function sqliteApiKeyStore(database: Database, clock: Clock): ApiKeyStore {
  const insert = database.query<
    Row,
    { id: string; organization: string; key_hash: string; hint: string; now: number }
  >(
    `INSERT INTO api_keys (id, organization, key_hash, hint, created_at)
     VALUES ($id, $organization, $key_hash, $hint, $now) RETURNING ${COLUMNS}`,
  );
  const all = database.query<Row, []>(`SELECT ${COLUMNS} FROM api_keys ORDER BY sequence`);
  const revoke = database.query<{ id: string }, { id: string; now: number }>(
    'UPDATE api_keys SET revoked_at = $now WHERE id = $id AND revoked_at IS NULL RETURNING id',
  );
  const byHash = database.query<Row, { key_hash: string }>(
    `SELECT ${COLUMNS} FROM api_keys WHERE key_hash = $key_hash AND revoked_at IS NULL`,
  );
  const nowSeconds = () => Math.floor(clock.now() / 1000);

  return {
    async create({ organization, keyHash, hint }) {
      const values = { id: newId('key'), organization, key_hash: keyHash, hint, now: nowSeconds() };
      const row = await whenFree(() => insert.get(values));
      if (row === null) throw new Error('INSERT … RETURNING gave no row');
      return toRecord(row);
    },
    list: async () => all.all().map(toRecord),
    revoke: async (id) => (await whenFree(() => revoke.get({ id, now: nowSeconds() }))) !== null,
    async findByHash(keyHash) {
      const row = await whenFree(() => byHash.get({ key_hash: keyHash }));
      return row === null ? undefined : toRecord(row);
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
