import { CompiledQuery, type Insertable, type Kysely } from 'kysely';
import type { Tables } from '../schema/tables.ts';
import { chunks } from './chunks.ts';

/** Rows of one statement. */
const MAX_CONCURRENT = 64;

/**
 * Inserts of many rows into one table of one engine. Their statements are put together once for each number of rows, since that
 * takes longer for hundreds of values than to run them.
 */
export class RowInserts<Name extends keyof Tables> {
  readonly #table: Name;
  /** By the number of rows. */
  readonly #statements = new Map<number, CompiledQuery>();

  constructor(table: Name) {
    this.#table = table;
  }

  /** @param rows all with the same columns in the same order. */
  async insert(transaction: Kysely<Tables>, rows: readonly Insertable<Tables[Name]>[]): Promise<void> {
    for (const some of chunks(rows, MAX_CONCURRENT)) {
      const statement = this.#statements.get(some.length) ?? this.#statement(transaction, some);
      await transaction.executeQuery({ ...statement, parameters: some.flatMap(Object.values) });
    }
  }

  #statement(transaction: Kysely<Tables>, rows: readonly Insertable<Tables[Name]>[]): CompiledQuery {
    const { sql } = transaction.insertInto(this.#table).values(rows).compile();
    const statement = CompiledQuery.raw(sql);
    this.#statements.set(rows.length, statement);
    return statement;
  }
}
