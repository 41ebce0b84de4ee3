import { Database } from 'bun:sqlite';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { apiKeyStore } from '../accounts/api-key-store.ts';
import { organizationStore } from '../accounts/organization-store.ts';
import { retryWhileLocked } from './retry-while-locked.ts';
import { openSqlite } from './sqlite-records.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'when-free-'));
  path = join(folder, 'service.sqlite');
});
afterEach(() => rmSync(folder, { recursive: true }));

test('writes wait while another process locks the file, without blocking the thread or reads', async () => {
  const records = openSqlite(path);
  const other = new Database(path);
  other.run('BEGIN IMMEDIATE');
  const writing = organizationStore(records, new ManualClock()).ensure(['b']);
  // A transaction waits like a single statement.
  const keys = apiKeyStore(records, new ManualClock());
  const creating = keys.create({ organization: 'a', keyHash: 'h', hint: 'sk-…', role: 'member' });
  expect(await keys.findByHash('h')).toBeUndefined();
  expect(await keys.list()).toEqual([]);
  // The statements were tried and did not block the thread.
  const first = await Promise.race([writing, creating, Bun.sleep(0).then(() => 'both wait')]);
  expect(first).toBe('both wait');
  other.run('COMMIT');
  await writing;
  const record = await creating;
  expect(await keys.findByHash('h')).toEqual(record);
  expect(other.query('SELECT count(*) AS rows FROM organizations').get()).toEqual({ rows: 2 });
  other.close();
  await records.close();
});

test('other errors are not retried', async () => {
  let tries = 0;
  const statement = () => {
    tries += 1;
    throw new Error('no such table');
  };
  await expect(retryWhileLocked(statement)).rejects.toThrow('no such table');
  expect(tries).toBe(1);
});
