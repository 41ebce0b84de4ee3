import { Database } from 'bun:sqlite';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { usageRecord } from '../../../test/contract/usage-store.cases.ts';
import { voiceRecord } from '../../../test/contract/voice-store.cases.ts';
import { usageRows } from '../../../test/harness/usage-rows.ts';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { apiKeyStore } from '../accounts/api-key-store.ts';
import { toRow } from '../accounts/usage-store.ts';
import type { Records } from '../schema/records.ts';
import { voiceStore } from '../stores/voice-store.ts';
import { DatabaseError } from './database-error.ts';
import { openSqlite } from './sqlite-records.ts';

const folder = mkdtempSync(join(tmpdir(), 'records-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

const opened: Records[] = [];
afterEach(async () => {
  for (const records of opened.splice(0)) await records.close();
});

let files = 0;
function freshPath(): string {
  files += 1;
  return join(folder, `${files}`, 'service.sqlite');
}

function open(path: string): Records {
  const records = openSqlite(path);
  opened.push(records);
  return records;
}

/** Another process that uses the same file. */
function raw<T>(path: string, work: (database: Database) => T): T {
  const database = new Database(path);
  try {
    return work(database);
  } finally {
    database.close();
  }
}

describe('a file', () => {
  test('rows survive the process that wrote them, and two processes can share the file', async () => {
    const path = freshPath();
    const first = usageRows(open(path));
    const second = usageRows(open(path));
    const row = usageRecord();
    await first.insert(row);
    expect((await second.list({ organization: 'a', limit: 1 })).records).toEqual([row]);
    expect((await usageRows(open(path)).list({ organization: 'a', limit: 1 })).records).toEqual([row]);
  });

  test('can be closed twice', async () => {
    const records = open(freshPath());
    await records.close();
    await records.close();
    await expect(usageRows(records).insert(usageRecord())).rejects.toMatchObject({ kind: 'overloaded' });
  });

  test('statements run between transactions, never within them', async () => {
    const records = open(freshPath());
    const usage = usageRows(records);
    const row = usageRecord();
    const seen = async () => (await usage.list({ organization: 'a', limit: 5 })).records.length;
    const reads: Promise<number>[] = [];
    const work = records.db.transaction().execute(async (transaction) => {
      await transaction.insertInto('usage').values(toRow(row)).execute();
      reads.push(seen());
      await transaction.updateTable('usage').set({ model: 'x' }).execute();
      throw new Error('and all of it is undone');
    });
    reads.push(seen());
    await expect(work).rejects.toThrow('and all of it is undone');
    expect(await Promise.all(reads)).toEqual([0, 0]);
    await usage.insert(row);
    expect(await seen()).toBe(1);
  });

  test('can prepare more statements than are cached', async () => {
    const { db } = open(freshPath());
    for (let kind = 0; kind < 500; kind += 1) {
      const { rows } = await sql`SELECT ${sql.lit(kind)} AS kind`.execute(db);
      expect(rows).toEqual([{ kind }]);
    }
  });

  test('only the owner can access its folder', () => {
    const path = freshPath();
    open(path);
    expect(statSync(join(path, '..')).mode & 0o077).toBe(0);
  });

  test('only the owner can access it and its WAL files, even if an earlier build created them', async () => {
    const path = freshPath();
    const all = [path, `${path}-wal`, `${path}-shm`];
    const modes = () => all.map((each) => statSync(each).mode & 0o777);
    await usageRows(open(path)).insert(usageRecord());
    expect(modes()).toEqual([0o600, 0o600, 0o600]);
    for (const each of all) chmodSync(each, 0o644);
    await usageRows(open(path)).insert(usageRecord());
    expect(modes()).toEqual([0o600, 0o600, 0o600]);
  });

  test('uses WAL with synchronous NORMAL and foreign keys', async () => {
    const { db } = open(freshPath());
    const pragma = async (name: string) => (await sql.raw(`PRAGMA ${name}`).execute(db)).rows;
    expect(await pragma('journal_mode')).toEqual([{ journal_mode: 'wal' }]);
    expect(await pragma('synchronous')).toEqual([{ synchronous: 1 }]);
    expect(await pragma('busy_timeout')).toEqual([{ timeout: 5 }]);
    expect(await pragma('foreign_keys')).toEqual([{ foreign_keys: 1 }]);
  });

  test('calls `failed` for each statement that fails', async () => {
    let failures = 0;
    const records = openSqlite(':memory:', () => {
      failures += 1;
    });
    await expect(sql.raw('SELECT * FROM nothing_here').execute(records.db)).rejects.toThrow();
    const failing = records.db
      .transaction()
      .execute((transaction) => sql.raw('SELECT * FROM nothing_here').execute(transaction));
    await expect(failing).rejects.toThrow();
    await sql.raw('SELECT 1').execute(records.db);
    expect(failures).toBe(2);
    await records.close();
  });

  test('a file with a newer schema is rejected and not changed', () => {
    const path = freshPath();
    open(path);
    raw(path, (database) => database.run('PRAGMA user_version = 99'));
    expect(() => openSqlite(path)).toThrow(
      /has schema version 99; this build supports up to \d+\. Use the newer build/,
    );
    const version = raw(path, (database) => database.query('PRAGMA user_version').get());
    expect(version).toEqual({ user_version: 99 });
  });

  test('a file of version 2 is migrated with its rows, and can be written', async () => {
    const path = freshPath();
    mkdirSync(dirname(path), { recursive: true });
    raw(path, (database) => database.run(VERSION_2));
    const records = open(path);
    const usage = usageRows(records);
    const heard = usageRecord({ endpoint: '/v1/audio/transcriptions', transcript: 'hello' });
    await usage.insert(heard);
    const { records: rows } = await usage.list({ organization: 'a', limit: 3 });
    expect(rows.map(({ id }) => id)).toEqual([heard.id, 'usage_2', 'usage_1']);
    expect(rows[1]).toMatchObject({ transcript: 'heard', audioSeconds: 1.5 });
    expect(rows[2]).toMatchObject({ inputTokens: 3, outputTokens: 4, characters: 12 });
    expect(rows[2]).not.toHaveProperty('transcript');

    expect(await usage.days({ organization: 'a', from: 0, to: 0 })).toMatchObject([
      { endpoint: '/v1/audio/speech', requests: 1, inputTokens: 3, characters: 12 },
      { endpoint: '/v1/audio/transcriptions', requests: 1, audioSeconds: 1.5 },
    ]);

    const keys = apiKeyStore(records, new ManualClock());
    expect(await keys.findByHash('hash_1')).toMatchObject({
      id: 'key_1',
      organization: 'a',
      createdAt: 7,
      role: 'admin',
    });
    expect(await keys.findByHash('hash_2')).toBeUndefined();
    const organizations = await records.db.selectFrom('organizations').selectAll().orderBy('id').execute();
    expect(organizations).toEqual([
      { id: 'a', created_at: 7 },
      { id: 'b', created_at: 5 },
    ]);
  });

  test('a file of version 1 is migrated', async () => {
    const path = freshPath();
    mkdirSync(dirname(path), { recursive: true });
    raw(path, (database) => {
      database.run(VERSION_2);
      database.run('ALTER TABLE usage DROP COLUMN transcript');
      database.run('PRAGMA user_version = 1');
    });
    const { records } = await usageRows(open(path)).list({ organization: 'a', limit: 3 });
    expect(records.map(({ id }) => id)).toEqual(['usage_2', 'usage_1']);
  });

  test('a file with voices that version 0.1 was improving is migrated, and their jobs are removed', async () => {
    const path = freshPath();
    const voice = voiceRecord({ adaptation: 'mix' });
    await voiceStore(open(path)).put(voice, 1);
    raw(path, (database) => {
      database.run('UPDATE voices SET is_improving = 1');
      database.run(
        `INSERT INTO jobs (kind, id, free_at_ms, failures) VALUES ('voice', ?, 0, 0), ('batch', 'b', 0, 0)`,
        [voice.id],
      );
      // The version before the migration, without what later ones create.
      database.run('DROP TABLE lexicon_entries');
      database.run('DROP TABLE lexicon_revisions');
      database.run('PRAGMA user_version = 13');
    });
    const records = open(path);
    expect(await voiceStore(records).find(voice.id)).toEqual(voice);
    expect(await records.db.selectFrom('voices').select('is_improving').execute()).toEqual([
      { is_improving: 0 },
    ]);
    expect(await records.db.selectFrom('jobs').select(['kind', 'id']).execute()).toEqual([
      { kind: 'batch', id: 'b' },
    ]);
  });

  test('the error for a file that is not a database contains its path', () => {
    const path = join(folder, 'not-a-database');
    writeFileSync(path, 'these are not the rows that you are looking for'.repeat(100));
    expect(() => openSqlite(path)).toThrow(DatabaseError);
    expect(() => openSqlite(path)).toThrow(path);
    expect(() => openSqlite(join(path, 'below'))).toThrow(DatabaseError);
  });
});

/** The `.dump` of a file of version 2 with rows. */
const VERSION_2 = `
PRAGMA journal_mode = WAL;
CREATE TABLE usage (
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
   , transcript TEXT) STRICT;
INSERT INTO usage VALUES(1,'usage_1',6,'a','/v1/audio/speech','svc-tts','completed',3,4,12,9600,0.2,'req_1',NULL);
INSERT INTO usage VALUES(2,'usage_2',7,'a','/v1/audio/transcriptions','svc-stt','completed',0,1,NULL,NULL,1.5,'req_2','heard');
CREATE TABLE api_keys (
     sequence INTEGER PRIMARY KEY AUTOINCREMENT,
     id TEXT NOT NULL UNIQUE,
     key_hash TEXT NOT NULL UNIQUE,
     organization TEXT NOT NULL,
     hint TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     revoked_at INTEGER
   ) STRICT;
INSERT INTO api_keys VALUES(1,'key_0','hash_0','b','sk-aa…',5,NULL);
INSERT INTO api_keys VALUES(2,'key_1','hash_1','a','sk-ab…',7,NULL);
INSERT INTO api_keys VALUES(3,'key_2','hash_2','a','sk-ac…',8,9);
CREATE INDEX usage_by_organization ON usage (organization, sequence);
CREATE INDEX usage_by_endpoint ON usage (organization, endpoint, sequence);
PRAGMA user_version = 2;
`;

test('a transaction fails as overloaded if the disk is full, and does not affect the next one', async () => {
  const { db } = open(freshPath());
  const write = (bytes: number) =>
    db.transaction().execute(async (transaction) => {
      await sql`INSERT INTO organizations (id, created_at) VALUES (hex(zeroblob(${bytes})), 0)`.execute(
        transaction,
      );
    });
  await sql`PRAGMA max_page_count = 1`.execute(db);
  await expect(write(1_000_000)).rejects.toMatchObject({
    kind: 'overloaded',
    cause: { code: 'SQLITE_FULL' },
  });
  await sql`PRAGMA max_page_count = 100000`.execute(db);
  await write(2);
  expect(await db.selectFrom('organizations').select('id').execute()).toEqual([{ id: '0000' }]);
});
