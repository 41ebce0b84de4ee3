import { type Kysely, sql } from 'kysely';
import type { Records } from './records.ts';
import type { Tables } from './tables.ts';

/** What an organization adds to one at a time. Any numbers that no other lock takes. */
const LOCKS = {
  batches: 1_734_509,
  files: 1_734_510,
  voices: 1_734_511,
  videos: 1_734_512,
  keys: 1_734_513,
} as const;

/**
 * Others who add to the same wait here until the transaction ends. Otherwise two that are made at once would both be the
 * last that may be.
 */
export async function lockOrganization(
  engine: Records['engine'],
  transaction: Kysely<Tables>,
  organization: string,
  subject: keyof typeof LOCKS,
): Promise<void> {
  // A transaction of SQLite has the whole file to itself.
  if (engine === 'sqlite') return;
  await sql`SELECT pg_advisory_xact_lock(${sql.lit(LOCKS[subject])}, hashtext(${organization}))`.execute(
    transaction,
  );
}
