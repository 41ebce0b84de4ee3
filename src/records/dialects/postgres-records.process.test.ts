import { connect, createServer, type Server, type Socket } from 'node:net';
import { sql } from 'kysely';
import { afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { usageRecord } from '../../../test/contract/usage-store.cases.ts';
import { groupPostgres } from '../../../test/harness/group-servers.ts';
import { needs } from '../../../test/harness/needs.ts';
import { usageRows } from '../../../test/harness/usage-rows.ts';
import { HAS_POSTGRES, startPostgres } from '../../../tools/harness/servers/postgres.ts';
import { parsePostgresUrl } from '../../kit/validation/postgres-url.ts';
import { openRecords } from '../open-records.ts';
import type { Records } from '../schema/records.ts';
import { DatabaseError } from './database-error.ts';
import { MAX_WAITING } from './postgres-dialect.ts';

let server: Awaited<ReturnType<typeof groupPostgres>>;
beforeAll(async () => {
  if (HAS_POSTGRES) server = await groupPostgres();
});
beforeEach((context) => needs(context, HAS_POSTGRES, 'PostgreSQL'));

const opened: Records[] = [];
afterEach(async () => {
  for (const records of opened.splice(0)) await records.close();
});

async function open(url: string, onLost?: (error: Error) => void): Promise<Records> {
  const records = await openRecords(parsePostgresUrl(url), onLost);
  opened.push(records);
  return records;
}

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'it did not fail',
    (error: unknown) => error,
  );

/** The message of a failed start, which never contains the password. */
async function refusal(url: string): Promise<string> {
  const error = await failure(openRecords(parsePostgresUrl(url)));
  expect(error).toBeInstanceOf(DatabaseError);
  const { message } = error as DatabaseError;
  expect(message).not.toContain(server.password);
  expect(message).not.toContain(encodeURIComponent(server.password));
  return message;
}

test('calls `failed` for each statement that fails', async () => {
  let failures = 0;
  const failed = () => {
    failures += 1;
  };
  const records = await openRecords(parsePostgresUrl(await server.freshDatabase()), undefined, failed);
  opened.push(records);
  await sql`SELECT 1`.execute(records.db);
  expect(failures).toBe(0);
  await expect(sql`SELECT * FROM nothing_here`.execute(records.db)).rejects.toMatchObject({
    kind: 'internal',
  });
  expect(failures).toBe(1);
});

const asleep = (seconds: number) => sql`SELECT pg_sleep(${sql.lit(seconds)})`;

/** A proxy to the server that can stop forwarding data. */
async function silencedWire(port: number) {
  let silent = false;
  const sockets: Socket[] = [];
  const wire = createServer((client) => {
    const target = connect(port, '127.0.0.1');
    sockets.push(client, target);
    const forward = (to: Socket) => (bytes: Buffer) => silent || to.write(bytes);
    client.on('data', forward(target)).on('error', () => undefined);
    target.on('data', forward(client)).on('error', () => undefined);
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    wire.close();
  });
  return {
    port: await listening(wire),
    silence() {
      silent = true;
    },
  };
}

function listening(listener: Server): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  listener.listen(0, '127.0.0.1', () => {
    const address = listener.address();
    resolve(typeof address === 'object' && address !== null ? address.port : 0);
  });
  return promise;
}

describe('opening a database', () => {
  test('fails if no server listens', async () => {
    const message = await refusal('postgres://svc:p@127.0.0.1:9/records');
    expect(message).toMatch(
      /^The database records of svc at 127\.0\.0\.1:9 cannot be used: connect ECONNREFUSED 127\.0\.0\.1:9\.$/,
    );
  });

  test('fails if the host name is unknown', async () => {
    expect(await refusal('postgres://svc:p@no-such-host.invalid/records')).toMatch(/ENOTFOUND|EAI_AGAIN/);
  });

  test('fails if the password is wrong', async () => {
    const url = new URL(await server.freshDatabase());
    url.password = 'wrong';
    expect(await refusal(url.href)).toMatch(/password authentication failed for user "service"/);
  });

  test('fails if the database does not exist', async () => {
    const url = new URL(await server.freshDatabase());
    url.pathname = '/elsewhere';
    expect(await refusal(url.href)).toMatch(/database "elsewhere" does not exist/);
  });

  test('fails if the server accepts the connection but never responds', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => sockets.push(socket));
    const port = await listening(silent);
    expect(await refusal(`postgres://u:p@127.0.0.1:${port}/x?connect_timeout=1`)).toMatch(/timeout/);
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  test('fails for the schema of a newer build, and does not change it', async () => {
    const url = await server.freshDatabase();
    const { db } = await open(url);
    await sql`UPDATE schema_version SET version = 99`.execute(db);
    expect(await refusal(url)).toMatch(
      /has schema version 99; this build supports up to \d+\. Use the newer build/,
    );
    const { rows } = await sql`SELECT version FROM schema_version`.execute(db);
    expect(rows).toEqual([{ version: 99 }]);
  });

  test('works in several processes concurrently', async () => {
    const url = await server.freshDatabase();
    const all = await Promise.all(Array.from({ length: 4 }, () => open(url)));
    const row = usageRecord();
    await usageRows(all[0] as Records).insert(row);
    expect((await usageRows(all[3] as Records).list({ organization: 'a', limit: 1 })).records).toEqual([row]);
  });

  test('does not need the privilege to create tables if they exist', async () => {
    const url = new URL(await server.freshDatabase());
    const { db } = await open(url.href);
    await sql`CREATE ROLE ${sql.ref(url.pathname.slice(1))} LOGIN PASSWORD 'plain'`.execute(db);
    await sql`GRANT SELECT ON schema_version, usage TO ${sql.ref(url.pathname.slice(1))}`.execute(db);
    url.username = url.pathname.slice(1);
    url.password = 'plain';
    const reader = await open(url.href);
    expect((await usageRows(reader).list({ organization: 'a', limit: 1 })).records).toEqual([]);
    expect(await failure(usageRows(reader).insert(usageRecord()))).toMatchObject({ kind: 'internal' });
  });
});

describe('TLS', () => {
  const encrypted = async ({ db }: Records) =>
    (await sql`SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()`.execute(db)).rows;

  test.each([
    ['', '127.0.0.1', false],
    ['?sslmode=require', '127.0.0.1', true],
    ['?sslmode=verify-ca&sslrootcert=CA', '127.0.0.1', true],
    ['?sslmode=verify-full&sslrootcert=CA', 'localhost', true],
  ])('%j at %s: %s', async (query, host, ssl) => {
    const url = (await server.freshDatabase()).replace('127.0.0.1', host);
    const records = await open(url + query.replace('CA', server.certificateFile));
    expect(await encrypted(records)).toEqual([{ ssl }]);
  });

  test('verify-full rejects a certificate of an unknown authority', async () => {
    expect(await refusal(`${await server.freshDatabase()}?sslmode=verify-full`)).toMatch(/self.signed/i);
  });

  test('the error for an unreadable file contains its path', async () => {
    const url = `${await server.freshDatabase()}?sslmode=verify-ca&sslrootcert=/no/such.pem`;
    expect(await refusal(url)).toContain('cannot read the file of sslrootcert: /no/such.pem');
  });
});

describe('queries', () => {
  test('fail as overloaded while the server is unavailable, and work after it recovers', async () => {
    const own = await startPostgres();
    onTestFinished(() => own.close());
    const lost: Error[] = [];
    const records = await open(await own.freshDatabase(), (error) => lost.push(error));
    const usage = usageRows(records);
    const row = usageRecord();
    await usage.insert(row);
    const running = failure(asleep(60).execute(records.db));
    // Uses another connection than the sleeping query, and leaves it idle.
    expect((await usage.list({ organization: 'a', limit: 1 })).records).toEqual([row]);
    await own.stop();
    const overloaded = { kind: 'overloaded', retryAfterS: 1, code: 'server_overloaded' };
    expect(await running).toMatchObject(overloaded);
    expect(await failure(usage.list({ organization: 'a', limit: 1 }))).toMatchObject(overloaded);
    expect(await failure(records.db.transaction().execute(async () => 1))).toMatchObject(overloaded);
    expect(lost.length).toBeGreaterThan(0);
    await own.start();
    expect((await usage.list({ organization: 'a', limit: 1 })).records).toEqual([row]);
  });

  test('are cancelled after statement_timeout, and the connection is reused', async () => {
    const { db } = await open(`${await server.freshDatabase()}?statement_timeout=2000&pool_size=1`);
    expect(await failure(asleep(60).execute(db))).toMatchObject({ kind: 'overloaded' });
    expect((await sql`SELECT 1 AS one`.execute(db)).rows).toEqual([{ one: 1 }]);
  });

  test('use at most pool_size connections, wait at most connect_timeout, and are rejected if too many wait', async () => {
    const { db } = await open(`${await server.freshDatabase()}?pool_size=1&connect_timeout=1`);
    const begun = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    onTestFinished(() => held.resolve());
    const holding = db.transaction().execute(async (transaction) => {
      await sql`SELECT 1`.execute(transaction);
      begun.resolve();
      await held.promise;
    });
    await begun.promise;
    const waiting = Array.from({ length: MAX_WAITING }, () => failure(sql`SELECT 1`.execute(db)));
    expect(await failure(sql`SELECT 1`.execute(db))).toMatchObject({
      kind: 'overloaded',
      message: 'Database overloaded, retry later.',
    });
    const outcomes = await Promise.all(waiting);
    for (const outcome of outcomes) expect(outcome).toMatchObject({ kind: 'overloaded' });
    held.resolve();
    await holding;
    expect((await sql`SELECT 1 AS one`.execute(db)).rows).toEqual([{ one: 1 }]);
  });

  test('time out if the server stops responding, and so does closing', async () => {
    const url = new URL(await server.freshDatabase());
    const wire = await silencedWire(server.port);
    url.port = String(wire.port);
    const records = await open(`${url.href}?statement_timeout=2000`);
    // Two connections, so that one is idle while the other breaks.
    await Promise.all([asleep(0.05).execute(records.db), asleep(0.05).execute(records.db)]);
    wire.silence();
    expect(await failure(sql`SELECT 1`.execute(records.db))).toMatchObject({ kind: 'overloaded' });
    await records.close();
  });

  test('recover from a connection that breaks between two statements of a transaction', async () => {
    const { db } = await open(await server.freshDatabase());
    const work = db.transaction().execute(async (transaction) => {
      const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(transaction);
      await sql`SELECT pg_terminate_backend(${rows[0]?.pid}, 5000)`.execute(db);
      await sql`SELECT 1`.execute(transaction);
    });
    expect(await failure(work)).toMatchObject({ kind: 'overloaded' });
    expect((await sql`SELECT 1 AS one`.execute(db)).rows).toEqual([{ one: 1 }]);
  });

  test('that the server rejects are internal errors with its code as the cause', async () => {
    const { db } = await open(await server.freshDatabase());
    expect(await failure(sql`SELECT * FROM nothing_here`.execute(db))).toMatchObject({
      kind: 'internal',
      message: 'Internal server error: database operation failed.',
      cause: { code: '42P01' },
    });
  });

  test('of a failed transaction change nothing, even if the error was ignored', async () => {
    const { db } = await open(await server.freshDatabase());
    const work = db.transaction().execute(async (transaction) => {
      await transaction.insertInto('organizations').values({ id: 'a', created_at: 1 }).execute();
      await sql`SELECT * FROM nothing_here`.execute(transaction).catch(() => undefined);
    });
    expect(await failure(work)).toMatchObject({ kind: 'internal' });
    expect(await db.selectFrom('organizations').selectAll().execute()).toEqual([]);
  });

  test('store NUL as U+FFFD', async () => {
    const usage = usageRows(await open(await server.freshDatabase()));
    await usage.insert(usageRecord({ transcript: 'a\0b' }));
    const { records } = await usage.list({ organization: 'a', limit: 1 });
    expect(records[0]?.transcript).toBe('a\uFFFDb');
  });

  test('fail for integers with more than 53 bits', async () => {
    const { db } = await open(await server.freshDatabase());
    const { rows } = await sql`SELECT 9007199254740991::bigint AS most`.execute(db);
    expect(rows).toEqual([{ most: Number.MAX_SAFE_INTEGER }]);
    const tooMuch = sql`SELECT 9007199254740992::bigint AS more`.execute(db);
    expect(await failure(tooMuch)).toMatchObject({ kind: 'internal' });
  });
});
