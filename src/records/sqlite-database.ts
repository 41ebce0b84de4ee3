import { Database } from 'bun:sqlite';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { StartError } from '../contract/error.ts';

/** A database that cannot be used. The message names the file. */
export class DatabaseError extends StartError {
  override readonly name = 'DatabaseError';
}

/**
 * Steps from an empty file to today's tables; the file's `user_version` counts those done. A step is
 * never changed once it was in use: add another.
 */
const MIGRATIONS = [
  `CREATE TABLE usage (
     sequence INTEGER PRIMARY KEY AUTOINCREMENT,
     id TEXT NOT NULL UNIQUE,
     created_at INTEGER NOT NULL,
     organization TEXT NOT NULL,
     endpoint TEXT NOT NULL,
     model TEXT NOT NULL,
     status TEXT NOT NULL,
     input_tokens INTEGER NOT NULL,
     output_tokens INTEGER NOT NULL,
     characters INTEGER,
     audio_bytes INTEGER,
     audio_seconds REAL,
     request_id TEXT NOT NULL
   ) STRICT;
   CREATE INDEX usage_by_organization ON usage (organization, sequence);
   CREATE INDEX usage_by_endpoint ON usage (organization, endpoint, sequence);
   CREATE TABLE api_keys (
     sequence INTEGER PRIMARY KEY AUTOINCREMENT,
     id TEXT NOT NULL UNIQUE,
     key_hash TEXT NOT NULL UNIQUE,
     organization TEXT NOT NULL,
     hint TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     revoked_at INTEGER
   ) STRICT;`,
  'ALTER TABLE usage ADD COLUMN transcript TEXT;',
];

/** How long the start waits for another process, such as `keys`, to release the file. */
const OPENING_TIMEOUT_MS = 1000;
/** How long a statement may hold the serving thread for the same reason; see when-free.ts for the rest. */
const BUSY_TIMEOUT_MS = 5;

/**
 * Opens the service's database and brings its tables up to date. The caller closes it.
 * @param path a file, made with its folder when absent, or `:memory:`.
 * @throws DatabaseError when the file is not a database of ours or of a later version.
 */
export function openDatabase(path: string): Database {
  try {
    if (path !== ':memory:') mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const database = new Database(path, { create: true, strict: true });
    try {
      database.run(`PRAGMA busy_timeout = ${OPENING_TIMEOUT_MS}`);
      database.run('PRAGMA journal_mode = WAL');
      // WAL with NORMAL: a row survives the death of the process at once, and a power cut may take the last
      // moments but never tears the file. FULL would sync the disk under every request, on the serving
      // thread (docs/decisions/sqlite-with-normal-sync.md).
      database.run('PRAGMA synchronous = NORMAL');
      migrate(database);
      database.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
      return database;
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

function migrate(database: Database): void {
  const apply = database.transaction(() => {
    const done = version(database);
    if (done > MIGRATIONS.length) {
      throw new DatabaseError(
        `The database ${database.filename} is of version ${done}, this build knows ${MIGRATIONS.length}. Run the newer build.`,
      );
    }
    for (const step of MIGRATIONS.slice(done)) database.run(step);
    database.run(`PRAGMA user_version = ${MIGRATIONS.length}`);
  });
  // Immediate: two processes that start at once must not both migrate.
  apply.immediate();
}

function version(database: Database): number {
  return database.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version ?? 0;
}
