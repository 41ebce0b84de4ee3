import { Database } from 'bun:sqlite';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { apiKeyStoreCases } from '../../test/cases/api-key-store.cases.ts';
import { usageRecord, usageStoreCases } from '../../test/cases/usage-store.cases.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { hashApiKey } from '../kit/api-key.ts';
import { issueFirstKey, issueKey } from './issue-key.ts';
import { sqliteApiKeyStore } from './sqlite-api-key-store.ts';
import { DatabaseError, openDatabase } from './sqlite-database.ts';
import { sqliteUsageStore } from './sqlite-usage-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'records-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

const databases: Database[] = [];
afterEach(() => {
  for (const database of databases.splice(0)) database.close();
});

let files = 0;
function freshPath(): string {
  files += 1;
  return join(folder, `${files}`, 'service.sqlite');
}

function open(path: string): Database {
  const database = openDatabase(path);
  databases.push(database);
  return database;
}

describe.each([
  ['in memory', () => open(':memory:')],
  ['in a file', () => open(freshPath())],
])('SQLite %s', (_, fresh) => {
  describe('usage', () => usageStoreCases(() => sqliteUsageStore(fresh())));
  describe('API keys', () => {
    const clock = new ManualClock();
    apiKeyStoreCases(() => sqliteApiKeyStore(fresh(), clock), clock);
  });
});

describe('database', () => {
  test('rows outlive the process that wrote them, and two may share the file', async () => {
    const path = freshPath();
    const first = sqliteUsageStore(open(path));
    const second = sqliteUsageStore(open(path));
    const row = usageRecord();
    await first.insert(row);
    expect((await second.list({ organization: 'a', limit: 1 })).records).toEqual([row]);
    expect((await sqliteUsageStore(open(path)).list({ organization: 'a', limit: 1 })).records).toEqual([row]);
  });

  test('its folder is for the owner only', () => {
    const path = freshPath();
    open(path);
    expect(statSync(join(path, '..')).mode & 0o077).toBe(0);
  });

  test('writes ahead and syncs at checkpoints', () => {
    const database = open(freshPath());
    expect(database.query('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
    expect(database.query('PRAGMA synchronous').get()).toEqual({ synchronous: 1 });
  });

  test('a file of a later version is refused and left alone', () => {
    const path = freshPath();
    const database = open(path);
    database.run('PRAGMA user_version = 99');
    expect(() => openDatabase(path)).toThrow(/is of version 99, this build knows 2\. Run the newer build/);
    expect(database.query('PRAGMA user_version').get()).toEqual({ user_version: 99 });
  });

  test('rows of an earlier build are kept, and newer ones may have a transcript', async () => {
    const path = freshPath();
    const database = open(path);
    database.run('ALTER TABLE usage DROP COLUMN transcript');
    database.run('PRAGMA user_version = 1');
    database.run(
      `INSERT INTO usage (id, created_at, organization, endpoint, model, status, input_tokens, output_tokens, request_id)
       VALUES ('usage_old', 1, 'a', '/v1/audio/speech', 'svc-tts', 'completed', 3, 4, 'req_old')`,
    );
    const store = sqliteUsageStore(open(path));
    const heard = usageRecord({ endpoint: '/v1/audio/transcriptions', transcript: 'hello' });
    await store.insert(heard);
    const { records } = await store.list({ organization: 'a', limit: 2 });
    expect(records[0]).toEqual(heard);
    expect(records[1]).toMatchObject({ id: 'usage_old', inputTokens: 3, outputTokens: 4 });
    expect(records[1]).not.toHaveProperty('transcript');
  });

  test('a file that is no database is refused by name', () => {
    const path = join(folder, 'not-a-database');
    writeFileSync(path, 'these are not the rows that you are looking for'.repeat(100));
    expect(() => openDatabase(path)).toThrow(DatabaseError);
    expect(() => openDatabase(path)).toThrow(path);
    expect(() => openDatabase(join(path, 'below'))).toThrow(DatabaseError);
  });
});

describe('keys', () => {
  test('are random, and only their hash is stored', async () => {
    const path = freshPath();
    const store = sqliteApiKeyStore(open(path), new ManualClock());
    const issued = await Promise.all([issueKey(store, 'a'), issueKey(store, 'a')]);
    const [first, second] = issued.map(({ key }) => key);
    expect(first).toMatch(/^sk-[\w-]{43}$/);
    expect(first).not.toBe(second);
    expect(await store.findByHash(hashApiKey(first ?? ''))).toEqual(issued[0]?.record);
    const raw = new Database(path, { readonly: true });
    const everything = JSON.stringify(raw.query('SELECT * FROM api_keys').all());
    raw.close();
    expect(everything).toContain(hashApiKey(first ?? ''));
    expect(everything).not.toContain(first);
  });

  test('the first start makes one for the organization default, later starts none', async () => {
    const store = sqliteApiKeyStore(open(':memory:'), new ManualClock());
    const issued = await issueFirstKey(store);
    expect(issued?.record.organization).toBe('default');
    expect(await issueFirstKey(store)).toBeUndefined();
    await store.revoke(issued?.record.id ?? '');
    expect(await issueFirstKey(store)).toBeUndefined();
  });
});
