import type { Kysely } from 'kysely';
import { ServiceError } from '../../contract/core/error.ts';
import { IDEMPOTENCY_KEY_S, type IdempotencyKey } from '../../contract/stores/file-store.ts';
import type { Records } from '../schema/records.ts';
import type { Tables } from '../schema/tables.ts';

type Made = Tables['idempotency_keys']['made_kind'];

/** Where and when something is made. */
export interface Making {
  readonly engine: Records['engine'];
  readonly transaction: Kysely<Tables>;
  readonly organization: string;
  readonly kind: Made;
  /** Of what would be made. */
  readonly id: string;
  /** Unix seconds. */
  readonly at: number;
}

/**
 * Takes a key for what this transaction makes. Of several transactions with one key, the others wait for the first.
 * @returns undefined when the caller is to make it; the id of what an earlier request made, when `exists` says that
 *   it is still there.
 * @throws ServiceError `conflict` (code `idempotency_conflict`) when the key came with another fingerprint.
 */
export async function madeBefore(
  { engine, transaction, organization, kind, id, at }: Making,
  { key, fingerprint }: IdempotencyKey,
  exists: (id: string) => Promise<boolean>,
): Promise<string | undefined> {
  const row = {
    organization,
    made_kind: kind,
    idempotency_key: key,
    fingerprint,
    made_id: id,
    created_at: at,
  };
  const { numInsertedOrUpdatedRows: inserted = 0n } = await transaction
    .insertInto('idempotency_keys')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  if (inserted > 0n) return undefined;

  const earlier = transaction
    .selectFrom('idempotency_keys')
    .select(['fingerprint', 'made_id', 'created_at'])
    .where('organization', '=', organization)
    .where('made_kind', '=', kind)
    .where('idempotency_key', '=', key);
  // A transaction of SQLite has the whole file to itself, and no word for this.
  const found = await (engine === 'postgres' ? earlier.forUpdate() : earlier).executeTakeFirst();
  if (found !== undefined && found.created_at > at - IDEMPOTENCY_KEY_S && (await exists(found.made_id))) {
    if (found.fingerprint === fingerprint) return found.made_id;
    throw new ServiceError(
      'conflict',
      "This 'Idempotency-Key' was sent with another request. Send a new key with a new request.",
      { code: 'idempotency_conflict' },
    );
  }
  // Forgotten, or what it made is gone: the key is free.
  await transaction
    .insertInto('idempotency_keys')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['organization', 'made_kind', 'idempotency_key'])
        .doUpdateSet({ fingerprint, made_id: id, created_at: at }),
    )
    .execute();
  return undefined;
}

/** Frees the key of what was not made after all, in a transaction that goes on. */
export async function forgetMade({ transaction, organization, kind, id }: Making): Promise<void> {
  await transaction
    .deleteFrom('idempotency_keys')
    .where('organization', '=', organization)
    .where('made_kind', '=', kind)
    .where('made_id', '=', id)
    .execute();
}
