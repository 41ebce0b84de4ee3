import { Database } from 'bun:sqlite';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { usageRecord } from '../../test/cases/usage-store.cases.ts';
import { openDatabase } from './sqlite-database.ts';
import { sqliteUsageStore } from './sqlite-usage-store.ts';
import { whenFree } from './when-free.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'when-free-'));
  path = join(folder, 'service.sqlite');
});
afterEach(() => rmSync(folder, { recursive: true }));

test('a row waits for another process that holds the file, and the thread does not', async () => {
  const database = openDatabase(path);
  const other = new Database(path);
  other.run('BEGIN EXCLUSIVE');
  const started = performance.now();
  const writing = sqliteUsageStore(database).insert(usageRecord());
  // The statement was tried and has given the thread back.
  expect(performance.now() - started).toBeLessThan(500);
  expect(await Promise.race([writing.then(() => 'written'), Bun.sleep(0).then(() => 'waiting')])).toBe(
    'waiting',
  );
  other.run('COMMIT');
  await writing;
  expect(database.query('SELECT count(*) AS rows FROM usage').get()).toEqual({ rows: 1 });
  other.close();
  database.close();
});

test('other failures are not tried again', async () => {
  let tries = 0;
  const statement = () => {
    tries += 1;
    throw new Error('no such table');
  };
  await expect(whenFree(statement)).rejects.toThrow('no such table');
  expect(tries).toBe(1);
});
