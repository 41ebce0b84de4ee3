import type { CompiledQuery, Kysely } from 'kysely';
import type { Tables } from './tables.ts';

/** An open database whose tables are up to date. */
export interface Records {
  readonly engine: 'sqlite' | 'postgres';
  readonly db: Kysely<Tables>;
  /**
   * Runs a compiled query that every request needs. For SQLite it bypasses Kysely's executor, which takes three times as long
   * (docs/decisions/sql-in-two-engines.md).
   */
  read<Row>(query: CompiledQuery<Row>): Promise<readonly Row[]>;
  /** Closes the database after running queries have finished. Idempotent. */
  close(): Promise<void>;
}
