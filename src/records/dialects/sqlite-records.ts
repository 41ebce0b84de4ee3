import { Database } from 'bun:sqlite';
import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { type CompiledQuery, Kysely, type SchemaModule, sql } from 'kysely';
import { type MigrationWords, migrationSql } from '../schema/migrations.ts';
import type { Records } from '../schema/records.ts';
import type { Tables } from '../schema/tables.ts';
import { DatabaseError, laterVersion } from './database-error.ts';
import { toldFailures } from './failures.ts';
import { SqliteDriver, sqliteDialect } from './sqlite-dialect.ts';

/** Of the files of a database, which hold what organizations store: for this user alone. */
const PRIVATE = 0o600;
/** How long the start waits for another process, such as `keys`, to release the file. */
const OPENING_TIMEOUT_MS = 1000;
/** How long a statement may hold the serving thread for the same reason; see when-free.ts for the rest. */
const BUSY_TIMEOUT_MS = 5;

/**
 * Opens a database of SQLite and brings its tables up to date. The caller closes it.
 * @param path a file, made with its folder when absent, or `:memory:`.
 * @param failed told of each statement that fails.
 * @throws DatabaseError when the file is not a database of ours or of a later version.
 */
export function openSqlite(path: string, failed: () => void = () => undefined): Records {
  try {
    if (path !== ':memory:') makePrivate(path);
    const database = new Database(path, { create: true, strict: true });
    try {
      database.run(`PRAGMA busy_timeout = ${OPENING_TIMEOUT_MS}`);
      database.run('PRAGMA journal_mode = WAL');
      // WAL with NORMAL: a row survives the death of the process at once, and a power cut may take the last
      // moments but never tears the file. FULL would sync the disk under every request, on the serving
      // thread (docs/decisions/sqlite-with-normal-sync.md).
      database.run('PRAGMA synchronous = NORMAL');
      database.run('PRAGMA foreign_keys = ON');
      const driver = new SqliteDriver(database, toldFailures(failed));
      const db = new Kysely<Tables>({ dialect: sqliteDialect(driver) });
      migrate(database, db);
      database.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
      return {
        engine: 'sqlite',
        db,
        read: async <Row>(query: CompiledQuery<Row>) => (await driver.run<Row>(query)).rows,
        async close() {
          await driver.destroy();
          database.close();
        },
      };
    } catch (error) {
      database.close();
      throw error;
    }
  } catch (error) {
    if (error instanceof DatabaseError) throw error;
    const reason = error instanceof Error ? error.message : 'unknown reason';
    throw new DatabaseError(`The database ${path} cannot be opened: ${reason}.`, { cause: error });
  }
}

/** Makes the file, if it is not there, and all for this user alone: SQLite gives those beside it the rights of the file. */
function makePrivate(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, 'a', PRIVATE));
  for (const each of [path, `${path}-wal`, `${path}-shm`]) {
    try {
      chmodSync(each, PRIVATE);
    } catch {
      // It is not there, or is another user's, who decides who reads it: whether it can be written shows at once.
    }
  }
}

/** The file's `user_version` counts the steps that are done. */
function migrate(database: Database, db: Kysely<Tables>): void {
  const steps = migrationSql(sqliteWords(db.schema));
  const apply = database.transaction(() => {
    const done = version(database);
    if (done > steps.length) throw laterVersion(database.filename, done, steps.length);
    for (const statement of steps.slice(done).flat()) database.run(statement);
    database.run(`PRAGMA user_version = ${steps.length}`);
  });
  // Immediate: two processes that start at once must not both migrate.
  apply.immediate();
}

function version(database: Database): number {
  return database.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version ?? 0;
}

function sqliteWords(schema: SchemaModule): MigrationWords {
  const table = (name: string) => schema.createTable(name).modifyEnd(sql`strict`);
  return {
    schema,
    integer: 'integer',
    real: 'real',
    table,
    numberedTable: (name) =>
      table(name).addColumn('sequence', 'integer', (column) => column.primaryKey().autoIncrement()),
  };
}
