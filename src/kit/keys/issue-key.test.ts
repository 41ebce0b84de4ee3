import { sql } from 'kysely';
import { afterEach, describe, expect, test } from 'vitest';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { memoryRecords } from '../../../tools/harness/doubles/memory-records.ts';
import { apiKeyStore } from '../../records/accounts/api-key-store.ts';
import type { Records } from '../../records/schema/records.ts';
import { hashApiKey } from './api-key.ts';
import { issueFirstKey, issueKey } from './issue-key.ts';

const opened: Records[] = [];
afterEach(async () => {
  for (const records of opened.splice(0)) await records.close();
});

const A = { organization: 'a', role: 'member' } as const;

function open() {
  const records = memoryRecords();
  opened.push(records);
  return { records, store: apiKeyStore(records, new ManualClock()) };
}

describe('keys', () => {
  test('are random, and only their hash is stored', async () => {
    const { records, store } = open();
    const issued = await Promise.all([issueKey(store, A), issueKey(store, A)]);
    const [first, second] = issued.map(({ key }) => key);
    expect(first).toMatch(/^sk-[\w-]{43}$/);
    expect(first).not.toBe(second);
    expect(await store.findByHash(hashApiKey(first ?? ''))).toEqual(issued[0]?.record);
    const everything = JSON.stringify((await sql`SELECT * FROM api_keys`.execute(records.db)).rows);
    expect(everything).toContain(hashApiKey(first ?? ''));
    expect(everything).not.toContain(first);
  });

  test('the first start issues one for the organization default, later starts none', async () => {
    const { store } = open();
    const issued = await issueFirstKey(store);
    expect(issued?.record).toMatchObject({ organization: 'default', role: 'admin', name: null });
    expect(await issueFirstKey(store)).toBeUndefined();
    await store.revoke(issued?.record.id ?? '');
    expect(await issueFirstKey(store)).toBeUndefined();
  });
});
