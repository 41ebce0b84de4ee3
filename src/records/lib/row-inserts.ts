import { CompiledQuery, type Insertable, type Kysely } from 'kysely';
import type { Tables } from '../schema/tables.ts';
import { chunks } from './chunks.ts';

/** Rows per statement. */
const ROWS_PER_STATEMENT = 64;

/**
 * Inserts many rows into one table. The statements are cached by number of rows, because compiling a statement with hundreds
 * of values takes longer than running it.
 */
export class RowInserts<Name extends keyof Tables> {
  readonly #table: Name;
  /** Statements by number of rows. */
  readonly #statements = new Map<number, CompiledQuery>();

  constructor(table: Name) {
    this.#table = table;
  }

  /** @param rows all rows must have the same columns in the same order. */
  async insert(transaction: Kysely<Tables>, rows: readonly Insertable<Tables[Name]>[]): Promise<void> {
    for (const chunk of chunks(rows, ROWS_PER_STATEMENT)) {
      const statement = this.#statements.get(chunk.length) ?? this.#statement(transaction, chunk);
      await transaction.executeQuery({ ...statement, parameters: chunk.flatMap(Object.values) });
    }
  }

  #statement(transaction: Kysely<Tables>, rows: readonly Insertable<Tables[Name]>[]): CompiledQuery {
    const { sql } = transaction.insertInto(this.#table).values(rows).compile();
    const statement = CompiledQuery.raw(sql);
    this.#statements.set(rows.length, statement);
    return statement;
  }
}
