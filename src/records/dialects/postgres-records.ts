import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionOptions } from 'node:tls';
import { Kysely, type SchemaModule, sql } from 'kysely';
import pg from 'pg';
import type { PostgresSettings, PostgresTls } from '../../contract/core/settings.ts';
import type { MigrationDialect } from '../schema/migration.ts';
import { migrationSql } from '../schema/migrations.ts';
import type { Records } from '../schema/records.ts';
import type { Tables } from '../schema/tables.ts';
import { DatabaseError, newerSchemaError } from './database-error.ts';
import { postgresDialect } from './postgres-dialect.ts';
import { withErrorCallback } from './query-errors.ts';

/** Name of this service in `pg_stat_activity`. */
const APPLICATION = 'voice-service';
const INT8 = pg.types.builtins.INT8;
/** Advisory lock key that prevents concurrent migrations. The number is arbitrary. */
const MIGRATION_LOCK = 7_237_120_563;
/** A migration may rewrite a large table. */
const MIGRATION_TIMEOUT_MS = 600_000;
/** How much longer than the server's statement timeout the client waits, in case the server is unreachable. */
const SILENCE_MS = 5000;
/** Time limit for closing connections gracefully. */
const CLOSING_MS = 2000;

/**
 * Opens a PostgreSQL database and migrates its tables. The caller closes it.
 * @param onLost is called when an idle connection breaks.
 * @param failed is called for each statement that fails.
 * @throws DatabaseError if the server or the database cannot be used, or the schema is of a newer build.
 */
export async function openPostgres(
  settings: PostgresSettings,
  onLost: (error: Error) => void,
  failed: (error: unknown) => void,
): Promise<Records> {
  const name = `${settings.database} of ${settings.user} at ${settings.host}:${settings.port}`;
  const tls = settings.tls === undefined ? false : tlsOptions(settings.tls);
  try {
    await migrate(name, settings, tls);
  } catch (error) {
    if (error instanceof DatabaseError) throw error;
    throw new DatabaseError(`The database ${name} cannot be used: ${reasonOf(error)}.`, { cause: error });
  }
  const pool = poolOf(settings, tls, settings.poolSize, settings.statementTimeoutMs);
  pool.on('error', onLost);
  const db = new Kysely<Tables>({ dialect: postgresDialect(pool, withErrorCallback(failed)) });
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= closePool(pool);
    return closed;
  };
  return {
    engine: 'postgres',
    db,
    read: async (query) => (await db.executeQuery(query)).rows,
    close,
  };
}

/**
 * Closes a pool within {@link CLOSING_MS}, so that an unresponsive server cannot delay the exit of the process. Kysely would
 * not close an unused pool.
 */
async function closePool(pool: pg.Pool): Promise<void> {
  const timeout = new AbortController();
  await Promise.race([
    pool.end(),
    sleep(CLOSING_MS, undefined, { signal: timeout.signal }).catch(() => undefined),
  ]);
  timeout.abort();
}

/** Migrates the tables over a separate connection, whose statement timeout is longer than that of requests. */
async function migrate(name: string, settings: PostgresSettings, tls: pg.ClientConfig['ssl']): Promise<void> {
  const pool = poolOf(settings, tls, 1, MIGRATION_TIMEOUT_MS);
  pool.on('error', () => undefined);
  const db = new Kysely<{ schema_version: { version: number } }>({ dialect: postgresDialect(pool) });
  try {
    await db.transaction().execute(async (transaction) => {
      await sql`SELECT pg_advisory_xact_lock(${sql.lit(MIGRATION_LOCK)})`.execute(transaction);
      // Queried first, because even CREATE TABLE IF NOT EXISTS needs the privilege to create tables.
      const { rows } = await sql<{ found: string | null }>`
        SELECT to_regclass('schema_version') AS found`.execute(transaction);
      if (rows[0]?.found === null) {
        await transaction.schema.createTable('schema_version').addColumn('version', 'integer').execute();
        await transaction.insertInto('schema_version').values({ version: 0 }).execute();
      }
      const { version: applied } = await transaction
        .selectFrom('schema_version')
        .select('version')
        .executeTakeFirstOrThrow();
      const steps = migrationSql(postgresMigrationDialect(transaction.schema));
      if (applied > steps.length) throw newerSchemaError(name, applied, steps.length);
      if (applied === steps.length) return;
      for (const statement of steps.slice(applied).flat()) await sql.raw(statement).execute(transaction);
      await transaction.updateTable('schema_version').set({ version: steps.length }).execute();
    });
  } finally {
    await closePool(pool);
  }
}

function poolOf(
  settings: PostgresSettings,
  tls: pg.ClientConfig['ssl'],
  size: number,
  statementTimeoutMs: number,
): pg.Pool {
  const pool = new pg.Pool({
    host: settings.host,
    port: settings.port,
    user: settings.user,
    password: settings.password?.reveal(),
    database: settings.database,
    ssl: tls,
    max: size,
    connectionTimeoutMillis: settings.connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + SILENCE_MS,
    keepAlive: true,
    application_name: APPLICATION,
    types: { getTypeParser: typeParser },
  });
  // Without a listener, a connection that breaks between two statements would crash the process. Its next statement fails.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** Parses 64-bit integers as numbers, as in SQLite; the library would return strings. */
const typeParser: typeof pg.types.getTypeParser = (type, format) =>
  type === INT8 ? safeInteger : pg.types.getTypeParser(type, format);

function safeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError('a stored integer has more than 53 bits');
  return value;
}

/** TLS options with the meaning of libpq's `sslmode`. */
function tlsOptions({ mode, rootCertFile, certFile, keyFile }: PostgresTls): ConnectionOptions {
  const files = {
    ...(rootCertFile === undefined ? {} : { ca: readPem('sslrootcert', rootCertFile) }),
    ...(certFile === undefined ? {} : { cert: readPem('sslcert', certFile) }),
    ...(keyFile === undefined ? {} : { key: readPem('sslkey', keyFile) }),
  };
  if (mode === 'verify-full') return files;
  // In libpq, `require` with a root certificate behaves like `verify-ca`.
  if (mode === 'require' && rootCertFile === undefined) return { ...files, rejectUnauthorized: false };
  return { ...files, checkServerIdentity: () => undefined };
}

function readPem(parameter: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new DatabaseError(`DATABASE_URL: cannot read the file of ${parameter}: ${path}`);
  }
}

function postgresMigrationDialect(schema: SchemaModule): MigrationDialect {
  const table = (name: string) => schema.createTable(name);
  return {
    schema,
    integer: 'bigint',
    real: 'double precision',
    table,
    numberedTable: (name) =>
      table(name).addColumn('sequence', 'bigint', (column) =>
        column.generatedAlwaysAsIdentity().primaryKey(),
      ),
  };
}

/** The message of the server or the operating system, which does not contain the password. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const first = cause instanceof AggregateError ? cause.errors[0] : cause;
  if (!(first instanceof Error)) return 'unknown reason';
  const code = 'code' in first && typeof first.code === 'string' ? first.code : '';
  return first.message || code || 'unknown reason';
}
