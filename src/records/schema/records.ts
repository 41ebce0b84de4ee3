import type { CompiledQuery, Kysely } from 'kysely';
import type { Tables } from './tables.ts';

/** An open database with today's tables. */
export interface Records {
  readonly engine: 'sqlite' | 'postgres';
  readonly db: Kysely<Tables>;
  /**
   * Rows of a compiled query, for what every request asks: in SQLite it takes the short way, which costs a third of
   * Kysely's (docs/decisions/sql-in-two-engines.md).
   */
  read<Row>(query: CompiledQuery<Row>): Promise<readonly Row[]>;
  /** Waits for queries that run. Idempotent. */
  close(): Promise<void>;
}
