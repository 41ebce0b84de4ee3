import { type Kysely, sql } from 'kysely';
import type { Records } from '../schema/records.ts';
import type { Tables } from '../schema/tables.ts';

/** Advisory lock keys by kind of record. The numbers are arbitrary; no other advisory lock uses them. */
const LOCKS = {
  batches: 1_734_509,
  files: 1_734_510,
  voices: 1_734_511,
  videos: 1_734_512,
  keys: 1_734_513,
} as const;

/**
 * Locks one kind of record of an organization until the transaction ends. Otherwise two concurrent transactions could
 * both pass the same check, for example of the last video that the limit allows.
 */
export async function lockOrganization(
  engine: Records['engine'],
  transaction: Kysely<Tables>,
  organization: string,
  subject: keyof typeof LOCKS,
): Promise<void> {
  // Transactions of SQLite lock the whole file.
  if (engine === 'sqlite') return;
  await sql`SELECT pg_advisory_xact_lock(${sql.lit(LOCKS[subject])}, hashtext(${organization}))`.execute(
    transaction,
  );
}
