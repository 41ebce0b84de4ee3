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
import { type ErrorConverter, toRecordsError } from './query-errors.ts';

/** Maximum number of queries that wait for a connection; further ones are rejected. */
export const MAX_WAITING = 5000;

/** Kysely dialect for a `pg` pool, which the driver closes. Errors are `ServiceError`s. */
export function postgresDialect(pool: pg.Pool, convertError: ErrorConverter = toRecordsError): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new PostgresDriver(pool, convertError),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

class PostgresDriver implements Driver {
  readonly #pool: pg.Pool;
  readonly #convertError: ErrorConverter;

  constructor(pool: pg.Pool, convertError: ErrorConverter) {
    this.#pool = pool;
    this.#convertError = convertError;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PostgresConnection> {
    if (this.#pool.waitingCount >= MAX_WAITING) {
      throw new ServiceError('overloaded', 'Database overloaded, retry later.', {
        code: 'server_overloaded',
        retryAfterS: 2,
      });
    }
    try {
      return new PostgresConnection(await this.#pool.connect(), this.#convertError);
    } catch (error) {
      throw this.#convertError(error);
    }
  }

  async beginTransaction(connection: PostgresConnection): Promise<void> {
    await connection.command('BEGIN');
  }

  async commitTransaction(connection: PostgresConnection): Promise<void> {
    // PostgreSQL answers COMMIT with ROLLBACK if an earlier error in the transaction was ignored.
    const done = await connection.command('COMMIT');
    if (done === 'ROLLBACK')
      throw this.#convertError(new Error('the transaction was rolled back because of an earlier error'));
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
  /** The error after which this connection cannot be reused. */
  #broken: Error | undefined;
  readonly #convertError: ErrorConverter;

  constructor(client: pg.PoolClient, convertError: ErrorConverter) {
    this.#client = client;
    this.#convertError = convertError;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const { rows, rowCount } = await this.#query(query);
    return { rows: rows as Row[], numAffectedRows: BigInt(rowCount ?? 0) };
  }

  /** Runs a statement without parameters and returns the server's command tag. */
  async command(statement: string): Promise<string> {
    return (await this.#query(CompiledQuery.raw(statement))).command;
  }

  // biome-ignore lint/correctness/useYield: required by the interface, but no store streams rows
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('Streaming of rows is not supported: read a page.');
  }

  release(): void {
    this.#client.release(this.#broken);
  }

  async #query({ sql, parameters }: CompiledQuery): Promise<pg.QueryResult> {
    try {
      return await this.#client.query(sql, parameters.map(storable));
    } catch (error) {
      // After any other error than an error response, the protocol state of the connection is unknown.
      if (error instanceof Error && !(error instanceof pg.DatabaseError)) this.#broken = error;
      throw this.#convertError(error);
    }
  }
}

/** PostgreSQL cannot store U+0000 in text; it is replaced by U+FFFD. */
function storable(value: unknown): unknown {
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value;
}
