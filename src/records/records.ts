import type { Kysely } from 'kysely';
import type { Tables } from './tables.ts';

/** An open database with today's tables. */
export interface Records {
  readonly engine: 'sqlite' | 'postgres';
  readonly db: Kysely<Tables>;
  /** Waits for queries that run. Idempotent. */
  close(): Promise<void>;
}
