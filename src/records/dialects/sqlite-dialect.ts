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
import { type FailureOf, recordsFailure } from './failures.ts';
import { whenFree } from './when-free.ts';

/** Prepared statements that are kept; stores have a few dozen. */
const MAX_STATEMENTS = 200;

/** Kysely over a driver of `bun:sqlite`. */
export function sqliteDialect(driver: SqliteDriver): Dialect {
  return {
    createAdapter: () => new SharedAdapter(),
    createDriver: () => driver,
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

/** The driver lets its connections take turns, so Kysely need not. */
class SharedAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

/**
 * Connections that share one database, which belongs to the caller. Whoever has the turn has it for one statement
 * or one transaction, first come first served, and gives it up while it waits for another process: readers go on
 * meanwhile. Every transaction is immediate: it has the right to write from its beginning, so that nothing in it
 * can find the file taken.
 */
export class SqliteDriver implements Driver {
  readonly #statements: Statements;
  readonly #turn = new Turn();
  readonly #failureOf: FailureOf;

  constructor(database: Database, failureOf = recordsFailure) {
    this.#statements = new Statements(database);
    this.#failureOf = failureOf;
  }

  /** Runs one statement outside of transactions: at once when nobody has the turn. */
  async run<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    try {
      return await whenFree(() => this.#inTurn<Row>(query));
    } catch (error) {
      throw this.#failureOf(error);
    }
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<SqliteConnection> {
    return new SqliteConnection(this, this.#statements, this.#turn, this.#failureOf);
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

  #inTurn<Row>(query: CompiledQuery): QueryResult<Row> | Promise<QueryResult<Row>> {
    const turn = this.#turn.take();
    const run = () => {
      try {
        return this.#statements.run<Row>(query);
      } finally {
        this.#turn.give();
      }
    };
    return turn === undefined ? run() : turn.then(run);
  }
}

class SqliteConnection implements DatabaseConnection {
  readonly #driver: SqliteDriver;
  readonly #statements: Statements;
  readonly #turn: Turn;
  readonly #failureOf: FailureOf;
  #inTransaction = false;

  constructor(driver: SqliteDriver, statements: Statements, turn: Turn, failureOf: FailureOf) {
    this.#driver = driver;
    this.#statements = statements;
    this.#turn = turn;
    this.#failureOf = failureOf;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    if (!this.#inTransaction) return this.#driver.run(query);
    try {
      return this.#statements.run(query);
    } catch (error) {
      throw this.#failureOf(error);
    }
  }

  // biome-ignore lint/correctness/useYield: part of the interface, for what no store needs
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('Rows of SQLite are not streamed: read a page.');
  }

  /** Takes the turn until {@link end}. */
  async begin(): Promise<void> {
    try {
      await whenFree(async () => {
        await this.#turn.take();
        try {
          this.#statements.run(CompiledQuery.raw('BEGIN IMMEDIATE'));
          this.#inTransaction = true;
        } finally {
          if (!this.#inTransaction) this.#turn.give();
        }
      });
    } catch (error) {
      throw this.#failureOf(error);
    }
  }

  async end(how: 'COMMIT' | 'ROLLBACK'): Promise<void> {
    try {
      // A full disk has rolled it back already (sqlite.org, lang_transaction.html): to ask again would be another error, which
      // would hide the first.
      if (how === 'COMMIT' || this.#statements.inTransaction) this.#statements.run(CompiledQuery.raw(how));
      this.#leave();
    } catch (error) {
      // Kysely answers a failed COMMIT with a ROLLBACK, and after that nothing is left to hold on to.
      if (how === 'ROLLBACK') this.#leave();
      throw this.#failureOf(error);
    }
  }

  #leave(): void {
    this.#inTransaction = false;
    this.#turn.give();
  }
}

/** One at a time, in the order of asking. */
class Turn {
  #taken = false;
  readonly #waiting: (() => void)[] = [];

  take(): Promise<void> | undefined {
    if (this.#taken) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#taken = true;
    return undefined;
  }

  give(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken = false;
    else next();
  }
}

/** Statements by their SQL, prepared once. */
class Statements {
  readonly #database: Database;
  readonly #prepared = new Map<string, { statement: Statement; givesRows: boolean }>();

  constructor(database: Database) {
    this.#database = database;
  }

  get inTransaction(): boolean {
    return this.#database.inTransaction;
  }

  run<Row>({ sql, parameters }: CompiledQuery): QueryResult<Row> {
    const { statement, givesRows } = this.#prepared.get(sql) ?? this.#prepare(sql);
    const values = parameters as SQLQueryBindings[];
    if (givesRows) return { rows: statement.all(...values) as Row[] };
    const { changes } = statement.run(...values);
    return { rows: [], numAffectedRows: BigInt(changes) };
  }

  close(): void {
    for (const { statement } of this.#prepared.values()) statement.finalize();
    this.#prepared.clear();
  }

  #prepare(sql: string) {
    const statement = this.#database.prepare(sql);
    const prepared = { statement, givesRows: statement.columnNames.length > 0 };
    this.#prepared.set(sql, prepared);
    const [oldest] = this.#prepared.keys();
    if (this.#prepared.size > MAX_STATEMENTS && oldest !== undefined) {
      this.#prepared.get(oldest)?.statement.finalize();
      this.#prepared.delete(oldest);
    }
    return prepared;
  }
}
