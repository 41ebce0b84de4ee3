import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionOptions } from 'node:tls';
import { Kysely, type SchemaModule, sql } from 'kysely';
import pg from 'pg';
import type { PostgresSettings, PostgresTls } from '../../contract/core/settings.ts';
import { type MigrationWords, migrationSql } from '../schema/migrations.ts';
import type { Records } from '../schema/records.ts';
import type { Tables } from '../schema/tables.ts';
import { DatabaseError, laterVersion } from './database-error.ts';
import { toldFailures } from './failures.ts';
import { postgresDialect } from './postgres-dialect.ts';

/** Names us in `pg_stat_activity`. */
const APPLICATION = 'voice-service';
const INT8 = pg.types.builtins.INT8;
/** Two processes that start at once must not both migrate; any number that nobody else takes. */
const MIGRATION_LOCK = 7_237_120_563;
/** A step may rewrite a large table. */
const MIGRATION_TIMEOUT_MS = 600_000;
/** How much longer than the server we wait for its own time-out, in case that it is gone. */
const SILENCE_MS = 5000;
/** How long connections may take to say goodbye. */
const CLOSING_MS = 2000;

/**
 * Opens a database of a PostgreSQL server and brings its tables up to date. The caller closes it.
 * @param onLost told when an idle connection breaks.
 * @param failed told of each statement that fails.
 * @throws DatabaseError when the server or the database cannot be used, or the tables are of a later build.
 */
export async function openPostgres(
  settings: PostgresSettings,
  onLost: (error: Error) => void,
  failed: () => void,
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
  const db = new Kysely<Tables>({ dialect: postgresDialect(pool, toldFailures(failed)) });
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= end(pool);
    return closed;
  };
  return {
    engine: 'postgres',
    db,
    read: async (query) => (await db.executeQuery(query)).rows,
    close,
  };
}

/** A server that does not answer must not hold up the end of the process. Kysely would not end an unused pool. */
async function end(pool: pg.Pool): Promise<void> {
  const patience = new AbortController();
  await Promise.race([
    pool.end(),
    sleep(CLOSING_MS, undefined, { signal: patience.signal }).catch(() => undefined),
  ]);
  patience.abort();
}

/** With a connection of its own, whose statements may take longer than those of requests. */
async function migrate(name: string, settings: PostgresSettings, tls: pg.ClientConfig['ssl']): Promise<void> {
  const pool = poolOf(settings, tls, 1, MIGRATION_TIMEOUT_MS);
  pool.on('error', () => undefined);
  const db = new Kysely<{ schema_version: { version: number } }>({ dialect: postgresDialect(pool) });
  try {
    await db.transaction().execute(async (transaction) => {
      await sql`SELECT pg_advisory_xact_lock(${sql.lit(MIGRATION_LOCK)})`.execute(transaction);
      // Asked first, because even IF NOT EXISTS needs the right to make tables.
      const { rows } = await sql<{ found: string | null }>`
        SELECT to_regclass('schema_version') AS found`.execute(transaction);
      if (rows[0]?.found === null) {
        await transaction.schema.createTable('schema_version').addColumn('version', 'integer').execute();
        await transaction.insertInto('schema_version').values({ version: 0 }).execute();
      }
      const { version: done } = await transaction
        .selectFrom('schema_version')
        .select('version')
        .executeTakeFirstOrThrow();
      const steps = migrationSql(postgresWords(transaction.schema));
      if (done > steps.length) throw laterVersion(name, done, steps.length);
      if (done === steps.length) return;
      for (const statement of steps.slice(done).flat()) await sql.raw(statement).execute(transaction);
      await transaction.updateTable('schema_version').set({ version: steps.length }).execute();
    });
  } finally {
    await end(pool);
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
  // One that is lent out and breaks between two statements tells nobody else: its next statement fails.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** Counts and amounts are numbers here as in SQLite; the library would give 64 bits as text. */
const typeParser: typeof pg.types.getTypeParser = (type, format) =>
  type === INT8 ? safeInteger : pg.types.getTypeParser(type, format);

function safeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError('a stored integer has more than 53 bits');
  return value;
}

/** As libpq reads sslmode. */
function tlsOptions({ mode, rootCertFile, certFile, keyFile }: PostgresTls): ConnectionOptions {
  const files = {
    ...(rootCertFile === undefined ? {} : { ca: readPem('sslrootcert', rootCertFile) }),
    ...(certFile === undefined ? {} : { cert: readPem('sslcert', certFile) }),
    ...(keyFile === undefined ? {} : { key: readPem('sslkey', keyFile) }),
  };
  if (mode === 'verify-full') return files;
  // libpq: require with a root certificate verifies as verify-ca does.
  if (mode === 'require' && rootCertFile === undefined) return { ...files, rejectUnauthorized: false };
  return { ...files, checkServerIdentity: () => undefined };
}

function readPem(parameter: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new DatabaseError(`DATABASE_URL: ${parameter} names a file that cannot be read: ${path}`);
  }
}

function postgresWords(schema: SchemaModule): MigrationWords {
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

/** What went wrong, in the server's words or the system's; neither holds the password. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const first = cause instanceof AggregateError ? cause.errors[0] : cause;
  if (!(first instanceof Error)) return 'unknown reason';
  const code = 'code' in first && typeof first.code === 'string' ? first.code : '';
  return first.message || code || 'unknown reason';
}
