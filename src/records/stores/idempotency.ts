import type { Kysely } from 'kysely';
import { ServiceError } from '../../contract/core/error.ts';
import { IDEMPOTENCY_KEY_S, type IdempotencyKey } from '../../contract/stores/file-store.ts';
import type { Records } from '../schema/records.ts';
import type { Tables } from '../schema/tables.ts';

type Made = Tables['idempotency_keys']['made_kind'];

/** The creation of an object in a transaction. */
export interface ObjectCreation {
  readonly engine: Records['engine'];
  readonly transaction: Kysely<Tables>;
  readonly organization: string;
  readonly kind: Made;
  /** Id of the new object. */
  readonly id: string;
  /** Unix seconds. */
  readonly at: number;
}

/**
 * Claims an idempotency key for the object that this transaction creates. Concurrent transactions with the same key wait for
 * the first one.
 * @param exists returns whether the object with an id still exists.
 * @returns undefined if the caller must create the object; otherwise the id of the object that an earlier request created.
 * @throws ServiceError `conflict` (code `idempotency_conflict`) if the key was used with another fingerprint.
 */
export async function claimIdempotencyKey(
  { engine, transaction, organization, kind, id, at }: ObjectCreation,
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
  // SQLite has no row locks; its transactions lock the whole file.
  const found = await (engine === 'postgres' ? earlier.forUpdate() : earlier).executeTakeFirst();
  if (found !== undefined && found.created_at > at - IDEMPOTENCY_KEY_S && (await exists(found.made_id))) {
    if (found.fingerprint === fingerprint) return found.made_id;
    throw new ServiceError(
      'conflict',
      "This 'Idempotency-Key' was used with a different request. Use a new key for a new request.",
      { code: 'idempotency_conflict' },
    );
  }
  // The key has expired, or its object was deleted: the key can be reused.
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

/** Releases the idempotency key of an object that was not created, in a transaction that is committed anyway. */
export async function releaseIdempotencyKey({
  transaction,
  organization,
  kind,
  id,
}: ObjectCreation): Promise<void> {
  await transaction
    .deleteFrom('idempotency_keys')
    .where('organization', '=', organization)
    .where('made_kind', '=', kind)
    .where('made_id', '=', id)
    .execute();
}
