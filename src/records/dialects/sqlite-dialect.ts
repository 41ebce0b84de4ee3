import type { Database, SQLQueryBindings, Statement } from 'bun:sqlite';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { type ErrorConverter, toRecordsError } from './query-errors.ts';
import { retryWhileLocked } from './retry-while-locked.ts';

/** Maximum number of cached prepared statements; the stores use a few dozen. */
const MAX_STATEMENTS = 200;

/** Kysely dialect for `bun:sqlite`. */
export function sqliteDialect(driver: SqliteDriver): Dialect {
  return {
    createAdapter: () => new SharedAdapter(),
    createDriver: () => driver,
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

/** The driver serializes its connections itself, so Kysely does not need to. */
class SharedAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

/**
 * Connections that share one database, which the caller closes. A mutex serializes statements and transactions in order of
 * arrival. It is released while a connection waits for another process to unlock the file, so that other statements can
 * run. Every transaction starts with BEGIN IMMEDIATE, so that none of its statements can fail because the file is locked.
 */
export class SqliteDriver implements Driver {
  readonly #statements: Statements;
  readonly #mutex = new Mutex();
  readonly #convertError: ErrorConverter;

  constructor(database: Database, convertError = toRecordsError) {
    this.#statements = new Statements(database);
    this.#convertError = convertError;
  }

  /** Runs one statement outside transactions, synchronously if the mutex is free. */
  async run<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    try {
      return await retryWhileLocked(() => this.#withMutex<Row>(query));
    } catch (error) {
      throw this.#convertError(error);
    }
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<SqliteConnection> {
    return new SqliteConnection(this, this.#statements, this.#mutex, this.#convertError);
  }

  beginTransaction(connection: SqliteConnection): Promise<void> {
    return connection.begin();
  }

  commitTransaction(connection: SqliteConnection): Promise<void> {
    return connection.end('COMMIT');
  }

  rollbackTransaction(connection: SqliteConnection): Promise<void> {
    return connection.end('ROLLBACK');
  }

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {
    this.#statements.close();
  }

  #withMutex<Row>(query: CompiledQuery): QueryResult<Row> | Promise<QueryResult<Row>> {
    const acquired = this.#mutex.acquire();
    const run = () => {
      try {
        return this.#statements.run<Row>(query);
      } finally {
        this.#mutex.release();
      }
    };
    return acquired === undefined ? run() : acquired.then(run);
  }
}

class SqliteConnection implements DatabaseConnection {
  readonly #driver: SqliteDriver;
  readonly #statements: Statements;
  readonly #mutex: Mutex;
  readonly #convertError: ErrorConverter;
  #inTransaction = false;

  constructor(driver: SqliteDriver, statements: Statements, mutex: Mutex, convertError: ErrorConverter) {
    this.#driver = driver;
    this.#statements = statements;
    this.#mutex = mutex;
    this.#convertError = convertError;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    if (!this.#inTransaction) return this.#driver.run(query);
    try {
      return this.#statements.run(query);
    } catch (error) {
      throw this.#convertError(error);
    }
  }

  // biome-ignore lint/correctness/useYield: required by the interface, but no store streams rows
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('Streaming of rows is not supported: read a page.');
  }

  /** Starts a transaction and holds the mutex until {@link end}. */
  async begin(): Promise<void> {
    try {
      await retryWhileLocked(async () => {
        await this.#mutex.acquire();
        try {
          this.#statements.run(CompiledQuery.raw('BEGIN IMMEDIATE'));
          this.#inTransaction = true;
        } finally {
          if (!this.#inTransaction) this.#mutex.release();
        }
      });
    } catch (error) {
      throw this.#convertError(error);
    }
  }

  async end(how: 'COMMIT' | 'ROLLBACK'): Promise<void> {
    try {
      // SQLite rolls back automatically when the disk is full (sqlite.org, lang_transaction.html). Another ROLLBACK would
      // fail and hide the original error.
      if (how === 'COMMIT' || this.#statements.inTransaction) this.#statements.run(CompiledQuery.raw(how));
      this.#finishTransaction();
    } catch (error) {
      // Kysely sends ROLLBACK after a failed COMMIT, so the mutex is released only here.
      if (how === 'ROLLBACK') this.#finishTransaction();
      throw this.#convertError(error);
    }
  }

  #finishTransaction(): void {
    this.#inTransaction = false;
    this.#mutex.release();
  }
}

/** A mutex that is acquired in order of arrival. */
class Mutex {
  #isLocked = false;
  readonly #waiting: (() => void)[] = [];

  acquire(): Promise<void> | undefined {
    if (this.#isLocked) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#isLocked = true;
    return undefined;
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#isLocked = false;
    else next();
  }
}

/** A cache of prepared statements by their SQL. */
class Statements {
  readonly #database: Database;
  readonly #prepared = new Map<string, { statement: Statement; returnsRows: boolean }>();

  constructor(database: Database) {
    this.#database = database;
  }

  get inTransaction(): boolean {
    return this.#database.inTransaction;
  }

  run<Row>({ sql, parameters }: CompiledQuery): QueryResult<Row> {
    const { statement, returnsRows } = this.#prepared.get(sql) ?? this.#prepare(sql);
    const values = parameters as SQLQueryBindings[];
    if (returnsRows) return { rows: statement.all(...values) as Row[] };
    const { changes } = statement.run(...values);
    return { rows: [], numAffectedRows: BigInt(changes) };
  }

  close(): void {
    for (const { statement } of this.#prepared.values()) statement.finalize();
    this.#prepared.clear();
  }

  #prepare(sql: string) {
    const statement = this.#database.prepare(sql);
    const prepared = { statement, returnsRows: statement.columnNames.length > 0 };
    this.#prepared.set(sql, prepared);
    const [oldest] = this.#prepared.keys();
    if (this.#prepared.size > MAX_STATEMENTS && oldest !== undefined) {
      this.#prepared.get(oldest)?.statement.finalize();
      this.#prepared.delete(oldest);
    }
    return prepared;
  }
}
