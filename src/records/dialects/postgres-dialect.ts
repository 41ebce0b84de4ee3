import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely';
import pg from 'pg';
import { ServiceError } from '../../contract/core/error.ts';
import { type FailureOf, recordsFailure } from './failures.ts';

/** Queries that may wait for a connection; one more is refused. */
export const MAX_WAITING = 5000;

/** Kysely over a pool of `pg`, which the driver ends. Failures are `ServiceError`s. */
export function postgresDialect(pool: pg.Pool, failureOf: FailureOf = recordsFailure): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new PostgresDriver(pool, failureOf),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

class PostgresDriver implements Driver {
  readonly #pool: pg.Pool;
  readonly #failureOf: FailureOf;

  constructor(pool: pg.Pool, failureOf: FailureOf) {
    this.#pool = pool;
    this.#failureOf = failureOf;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PostgresConnection> {
    if (this.#pool.waitingCount >= MAX_WAITING) {
      throw new ServiceError('overloaded', 'Too many requests wait for the records. Try again later.', {
        code: 'server_overloaded',
        retryAfterS: 2,
      });
    }
    try {
      return new PostgresConnection(await this.#pool.connect(), this.#failureOf);
    } catch (error) {
      throw this.#failureOf(error);
    }
  }

  async beginTransaction(connection: PostgresConnection): Promise<void> {
    await connection.command('BEGIN');
  }

  async commitTransaction(connection: PostgresConnection): Promise<void> {
    // The server answers ROLLBACK when a statement had failed and nobody minded.
    const done = await connection.command('COMMIT');
    if (done === 'ROLLBACK') throw this.#failureOf(new Error('the transaction had failed before its end'));
  }

  async rollbackTransaction(connection: PostgresConnection): Promise<void> {
    await connection.command('ROLLBACK');
  }

  async releaseConnection(connection: PostgresConnection): Promise<void> {
    connection.release();
  }

  destroy(): Promise<void> {
    return this.#pool.end();
  }
}

class PostgresConnection implements DatabaseConnection {
  readonly #client: pg.PoolClient;
  /** Why this connection cannot be used again. */
  #broken: Error | undefined;
  readonly #failureOf: FailureOf;

  constructor(client: pg.PoolClient, failureOf: FailureOf) {
    this.#client = client;
    this.#failureOf = failureOf;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const { rows, rowCount } = await this.#query(query);
    return { rows: rows as Row[], numAffectedRows: BigInt(rowCount ?? 0) };
  }

  /** Runs a statement without a value and says what the server did. */
  async command(statement: string): Promise<string> {
    return (await this.#query(CompiledQuery.raw(statement))).command;
  }

  // biome-ignore lint/correctness/useYield: part of the interface, for what no store needs
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('Rows are not streamed: read a page.');
  }

  release(): void {
    this.#client.release(this.#broken);
  }

  async #query({ sql, parameters }: CompiledQuery): Promise<pg.QueryResult> {
    try {
      return await this.#client.query(sql, parameters.map(storable));
    } catch (error) {
      // Anything but an answer of the server leaves it open what the connection still has to say.
      if (error instanceof Error && !(error instanceof pg.DatabaseError)) this.#broken = error;
      throw this.#failureOf(error);
    }
  }
}

/** PostgreSQL's text has every character but U+0000; in its place stands the one for what cannot be shown. */
function storable(value: unknown): unknown {
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value;
}
