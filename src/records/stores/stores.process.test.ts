import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Insertable, sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { accountStoreCases, journalCall, rowOf } from '../../../test/contract/accounts-store.cases.ts';
import { apiKeyStoreCases } from '../../../test/contract/api-key-store.cases.ts';
import { batchStoreCases } from '../../../test/contract/batch-store.cases.ts';
import { fileStoreCases } from '../../../test/contract/file-store.cases.ts';
import { lexiconStoreCases } from '../../../test/contract/lexicon-store.cases.ts';
import { organizationStoreCases } from '../../../test/contract/organization-store.cases.ts';
import { pluginSwitchStoreCases } from '../../../test/contract/plugin-switch-store.cases.ts';
import {
  responseStoreCases,
  storedMessage,
  storedResponse,
} from '../../../test/contract/response-store.cases.ts';
import { usageRecord, usageStoreCases } from '../../../test/contract/usage-store.cases.ts';
import { videoStoreCases } from '../../../test/contract/video-store.cases.ts';
import { voiceStoreCases } from '../../../test/contract/voice-store.cases.ts';
import { groupPostgres } from '../../../test/harness/group-servers.ts';
import { needs } from '../../../test/harness/needs.ts';
import { inDeepTier } from '../../../test/harness/tier.ts';
import { usageRows } from '../../../test/harness/usage-rows.ts';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { HAS_POSTGRES } from '../../../tools/harness/servers/postgres.ts';
import { newId } from '../../contract/core/id.ts';
import type { BatchStatus } from '../../contract/stores/batch-store.ts';
import type { FileRecord } from '../../contract/stores/file-store.ts';
import { parsePostgresUrl } from '../../kit/validation/postgres-url.ts';
import { apiKeyStore } from '../accounts/api-key-store.ts';
import { cachedApiKeyStore } from '../accounts/cached-api-key-store.ts';
import { callJournal } from '../accounts/call-journal.ts';
import { creditStore } from '../accounts/credit-store.ts';
import { organizationStore } from '../accounts/organization-store.ts';
import { MAX_BATCH } from '../lib/batched-lookup.ts';
import { openRecords } from '../open-records.ts';
import { BACKFILL_USAGE_DAYS } from '../schema/migrations/0010-roles-and-usage-days.ts';
import type { Records } from '../schema/records.ts';
import type { Tables } from '../schema/tables.ts';
import { batchStore } from './batch-store.ts';
import { fileStore } from './file-store.ts';
import { lexiconStore } from './lexicon-store.ts';
import { lineBills } from './line-bills.ts';
import { pluginSwitchStore } from './plugin-switch-store.ts';
import { responseStore } from './response-store.ts';
import { videoStore } from './video-store.ts';
import { voiceStore } from './voice-store.ts';

/** Runs the contract cases of every store (test/contract) with every engine. */

/** All tables with data. */
const TABLES: readonly (keyof Tables)[] = [
  ...(['usage', 'usage_days', 'api_keys', 'organizations', 'responses', 'response_items'] as const),
  ...(['instances', 'open_calls', 'credit_accounts', 'credit_transfers', 'credit_entries'] as const),
  ...(['files', 'idempotency_keys', 'batches', 'batch_parts', 'jobs', 'videos', 'voices'] as const),
  ...(['plugin_switches', 'lexicon_entries', 'lexicon_revisions'] as const),
];

const opened: Records[] = [];
afterEach(async () => {
  for (const records of opened.splice(0)) await records.close();
});

function storeCases(fresh: () => Promise<Records>): void {
  const open = async () => {
    const records = await fresh();
    opened.push(records);
    return records;
  };
  describe('usage', () => usageStoreCases(async () => usageRows(await open())));
  describe('API keys', () => {
    const clock = new ManualClock();
    apiKeyStoreCases(async () => apiKeyStore(await open(), clock), clock);

    test('are found by several hashes in one query', async () => {
      const keys = apiKeyStore(await open(), clock);
      const hashes = ['h1', 'h2', 'h3', 'unknown'];
      const create = (keyHash: string) =>
        keys.create({ organization: 'a', keyHash, hint: 'sk-ab…', role: 'member' });
      const [first, second, revoked] = [await create('h1'), await create('h2'), await create('h3')];
      await keys.revoke(revoked.id);
      expect(await keys.findByHashes(hashes)).toEqual(
        new Map([
          ['h1', first],
          ['h2', second],
        ]),
      );
      const many = Array.from({ length: MAX_BATCH }, (_, at) => `h${at}`);
      expect([...(await keys.findByHashes(many)).keys()].toSorted()).toEqual(['h1', 'h2']);
    });
  });
  describe('cached API keys', () => {
    const clock = new ManualClock();
    apiKeyStoreCases(async () => cachedApiKeyStore(apiKeyStore(await open(), clock), clock), clock);
  });
  describe('plugin switches', () => {
    const clock = new ManualClock();
    pluginSwitchStoreCases(async () => pluginSwitchStore(await open(), clock), clock);
  });
  describe('accounts', () =>
    accountStoreCases(async () => {
      const records = await open();
      return {
        calls: callJournal(records),
        credits: creditStore(records),
        usage: usageRows(records),
        storeBills: (bills, failing) =>
          records.db.transaction().execute(async (transaction) => {
            const uncovered = await lineBills(records.engine)(transaction, bills);
            if (failing !== undefined) throw failing;
            return uncovered;
          }),
      };
    }));
  describe('batches', () =>
    batchStoreCases(async () => {
      const records = await open();
      return {
        batches: batchStore(records),
        files: fileStore(records),
        usage: usageRows(records),
        calls: callJournal(records),
        credits: creditStore(records),
      };
    }));
  describe('voices', () => voiceStoreCases(async () => voiceStore(await open())));
  describe('lexicons', () => {
    const clock = new ManualClock();
    lexiconStoreCases(async () => lexiconStore(await open(), clock), clock);
  });
  describe('videos', () =>
    videoStoreCases(async () => {
      const records = await open();
      return { videos: videoStore(records), credits: creditStore(records), usage: usageRows(records) };
    }));
  describe('responses', () => responseStoreCases(async () => responseStore(await open())));
  describe('files', () =>
    fileStoreCases(async () => {
      const records = await open();
      return {
        store: fileStore(records),
        async addBatch(input, status) {
          await records.db.insertInto('batches').values(batchRow(input, status)).execute();
        },
      };
    }));
  test('deleting a response deletes its input items', async () => {
    const records = await open();
    const store = responseStore(records);
    const response = storedResponse();
    await store.put('a', response, [storedMessage('i1'), storedMessage('i2')]);
    await store.delete('a', response.id);
    expect(await records.db.selectFrom('response_items').selectAll().execute()).toEqual([]);
  });
  test('the migration computes the same daily totals as the usage store', async () => {
    const records = await open();
    const usage = usageRows(records);
    const calls = callJournal(records);
    await creditStore(records).grant('a', 100, 1);
    for (const organization of ['a', 'b']) {
      const call = journalCall({ organization, reserved: organization === 'a' ? 60 : 0 });
      await calls.openCall(call);
      await calls.closeCall({ ...rowOf(call, 'failed'), characters: 7, audioSeconds: 0.5 }, 25);
      await usage.insert(usageRecord({ organization }));
    }
    const read = async () => [
      await usage.days({ organization: 'a', from: 0, to: 99_999 }),
      await usage.days({ organization: 'b', from: 0, to: 99_999 }),
    ];
    const added = await read();
    expect(added[0]).toMatchObject([{ requests: 2, failed: 1, charged: 25 }]);
    await records.db.deleteFrom('usage_days').execute();
    await sql.raw(BACKFILL_USAGE_DAYS).execute(records.db);
    expect(await read()).toEqual(added);
  });
  describe('organizations', () => {
    const clock = new ManualClock();
    organizationStoreCases(async () => {
      const records = await open();
      return {
        organizations: organizationStore(records, clock),
        keys: apiKeyStore(records, clock),
        credits: creditStore(records),
      };
    }, clock);
  });
}

/** A batch row with a status and an input file; the other columns are irrelevant for files. */
function batchRow(input: FileRecord, status: BatchStatus): Insertable<Tables['batches']> {
  const { organization, id: input_file, createdAt: created_at } = input;
  return {
    id: newId('batch_'),
    organization,
    key_id: 'k',
    endpoint: '/v1/embeddings',
    input_file,
    status,
    created_at,
    expires_at: created_at + 86_400,
    faults: '[]',
    lines_ahead: '[]',
    total: 0,
    completed: 0,
    failed: 0,
    input_tokens: 0,
    output_tokens: 0,
    offset_bytes: 0,
    line: 1,
  };
}

// Only tests use a database in memory. It differs from a file in nothing that the cases check.
inDeepTier(() =>
  describe('SQLite in memory', () => {
    storeCases(() => openRecords({ kind: 'sqlite', path: ':memory:' }));
  }),
);

describe('SQLite in a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'stores-test-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  let files = 0;
  storeCases(() => {
    files += 1;
    return openRecords({ kind: 'sqlite', path: join(folder, `${files}.sqlite`) });
  });
});

describe('PostgreSQL', () => {
  let records: Records | undefined;
  beforeAll(async () => {
    if (!HAS_POSTGRES) return;
    const { freshDatabase } = await groupPostgres();
    records = await openRecords(parsePostgresUrl(await freshDatabase()));
  });
  afterAll(() => records?.close());
  beforeEach((context) => needs(context, HAS_POSTGRES, 'PostgreSQL'));
  // The tables are emptied for every case, because creating a database takes a second.
  storeCases(async () => {
    if (records === undefined) throw new Error('the server was not started');
    await sql`TRUNCATE ${sql.join(TABLES.map((name) => sql.table(name)))} RESTART IDENTITY`.execute(
      records.db,
    );
    return { ...records, close: async () => undefined };
  });
});
