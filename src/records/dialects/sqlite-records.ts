import { Database } from 'bun:sqlite';
import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { type CompiledQuery, Kysely, type SchemaModule, sql } from 'kysely';
import { isUnwritable } from '../../kit/storage/disk-errors.ts';
import type { MigrationDialect } from '../schema/migration.ts';
import { migrationSql } from '../schema/migrations.ts';
import type { Records } from '../schema/records.ts';
import type { Tables } from '../schema/tables.ts';
import { DatabaseError, newerSchemaError } from './database-error.ts';
import { withErrorCallback } from './query-errors.ts';
import { SqliteDriver, sqliteDialect } from './sqlite-dialect.ts';

/** Mode of the database files: only the current user can access them. */
const PRIVATE = 0o600;
/** How long the start waits for another process, such as `keys`, to release the file. */
const OPENING_TIMEOUT_MS = 1000;
/** How long a statement may block the main thread for the same reason; retry-while-locked.ts retries after that. */
const BUSY_TIMEOUT_MS = 5;

/**
 * Opens a SQLite database and migrates its tables. The caller closes it.
 * @param path a file, which is created with its folder if it does not exist, or `:memory:`.
 * @param failed is called for each statement that fails.
 * @throws DatabaseError if the file is not a database of this service or its schema is of a newer build.
 */
export function openSqlite(path: string, failed: (error: unknown) => void = () => undefined): Records {
  try {
    if (path !== ':memory:') makePrivate(path);
    return sqliteRecords(new Database(path, { create: true, strict: true }), failed);
  } catch (error) {
    if (error instanceof DatabaseError) throw error;
    const reason = error instanceof Error ? error.message : 'unknown reason';
    const hint = isUnwritable(error) ? ' Set DATA_DIR to a folder that the service can write.' : '';
    throw new DatabaseError(`The database ${path} cannot be opened: ${reason}.${hint}`, { cause: error });
  }
}

/**
 * Migrates the tables of an open database in strict mode. Closing the records closes it, and so does an error.
 * @param failed is called for each statement that fails.
 */
export function sqliteRecords(database: Database, failed: (error: unknown) => void): Records {
  try {
    database.run(`PRAGMA busy_timeout = ${OPENING_TIMEOUT_MS}`);
    database.run('PRAGMA journal_mode = WAL');
    // WAL with NORMAL: committed rows survive a crash of the process. A power failure can lose the last transactions, but
    // cannot corrupt the file. FULL would sync the disk in every request, on the main thread
    // (docs/decisions/sqlite-with-normal-sync.md).
    database.run('PRAGMA synchronous = NORMAL');
    database.run('PRAGMA foreign_keys = ON');
    const driver = new SqliteDriver(database, withErrorCallback(failed));
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
}

/** Creates the file if necessary, and restricts it and its `-wal` and `-shm` files to the current user. */
function makePrivate(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, 'a', PRIVATE));
  for (const each of [path, `${path}-wal`, `${path}-shm`]) {
    try {
      chmodSync(each, PRIVATE);
    } catch {
      // The file does not exist, or another user owns it and controls its permissions.
    }
  }
}

/** The statements of the migrations, which are the same for all databases. Building them takes longer than running them. */
let migrations: ReturnType<typeof migrationSql> | undefined;

/** Applies the migrations that are missing. The file's `user_version` is the number of applied migrations. */
function migrate(database: Database, db: Kysely<Tables>): void {
  migrations ??= migrationSql(sqliteMigrationDialect(db.schema));
  const steps = migrations;
  const apply = database.transaction(() => {
    const applied = version(database);
    if (applied > steps.length) throw newerSchemaError(database.filename, applied, steps.length);
    for (const statement of steps.slice(applied).flat()) database.run(statement);
    database.run(`PRAGMA user_version = ${steps.length}`);
  });
  // An immediate transaction prevents concurrent migrations by two processes.
  apply.immediate();
}

function version(database: Database): number {
  return database.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version ?? 0;
}

function sqliteMigrationDialect(schema: SchemaModule): MigrationDialect {
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
