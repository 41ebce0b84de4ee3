import { expect, test } from 'vitest';
import type { UsageRecord } from '../../src/contract/accounts/usage.ts';
import { ServiceError } from '../../src/contract/core/error.ts';
import { newId } from '../../src/contract/core/id.ts';
import type { UsageRows } from '../harness/usage-rows.ts';

let createdRecords = 0;

export function usageRecord(overrides: Partial<UsageRecord> = {}): UsageRecord {
  createdRecords += 1;
  return {
    id: newId('usage_'),
    createdAt: 1_767_323_045,
    endpoint: '/v1/audio/speech',
    organization: 'a',
    requestId: newId('req_'),
    model: 'svc-tts',
    status: 'completed',
    inputTokens: createdRecords,
    outputTokens: 2,
    ...overrides,
  };
}

/** Contract of the usage store. `open` returns an empty store. */
export function usageStoreCases(open: () => Promise<UsageRows>): void {
  const ids = async (store: UsageRows, query: Partial<Parameters<UsageRows['list']>[0]> = {}) => {
    const page = await store.list({ organization: 'a', limit: 20, ...query });
    return { ids: page.records.map(({ id }) => id), hasMore: page.hasMore };
  };

  test('an empty store has an empty page', async () => {
    expect(await (await open()).list({ organization: 'a', limit: 20 })).toEqual({
      records: [],
      hasMore: false,
    });
  });

  test('a row is read as written, with and without its optional fields', async () => {
    const store = await open();
    const full = usageRecord({
      characters: 12,
      audioBytes: 48_000,
      audioSeconds: 1.25,
      transcript: 'Grüße, ’twas 12 €.',
      status: 'cancelled',
    });
    const bare = usageRecord();
    const zero = usageRecord({ characters: 0, audioBytes: 0, audioSeconds: 0, transcript: '' });
    for (const record of [full, bare, zero]) await store.insert(record);
    const { records } = await store.list({ organization: 'a', limit: 20 });
    expect(records).toEqual([zero, bare, full]);
    for (const name of ['characters', 'transcript'])
      expect(Object.keys(records[1] ?? {})).not.toContain(name);
  });

  test('rows are listed newest first, by insertion order', async () => {
    const store = await open();
    const rows = [usageRecord(), usageRecord(), usageRecord({ createdAt: 1 })];
    for (const row of rows) await store.insert(row);
    expect((await ids(store)).ids).toEqual(rows.map(({ id }) => id).reverse());
  });

  test('pages follow each other without gap or overlap', async () => {
    const store = await open();
    const rows = Array.from({ length: 5 }, () => usageRecord());
    for (const row of rows) await store.insert(row);
    const newest = rows.map(({ id }) => id).reverse();
    expect(await ids(store, { limit: 2 })).toEqual({ ids: newest.slice(0, 2), hasMore: true });
    expect(await ids(store, { limit: 2, after: newest[1] })).toEqual({
      ids: newest.slice(2, 4),
      hasMore: true,
    });
    expect(await ids(store, { limit: 2, after: newest[3] })).toEqual({
      ids: newest.slice(4),
      hasMore: false,
    });
    expect(await ids(store, { limit: 2, after: newest[4] })).toEqual({ ids: [], hasMore: false });
    expect(await ids(store, { limit: 5 })).toEqual({ ids: newest, hasMore: false });
  });

  test('organizations do not see each other', async () => {
    const store = await open();
    const mine = usageRecord();
    const foreign = usageRecord({ organization: 'b' });
    await store.insert(mine);
    await store.insert(foreign);
    expect((await ids(store)).ids).toEqual([mine.id]);
    expect((await ids(store, { organization: 'b' })).ids).toEqual([foreign.id]);
    expect((await ids(store, { organization: 'A' })).ids).toEqual([]);
  });

  test.each(['usage_unknown', '', "' OR 1=1 --", 'usage_\0'])('rejects the cursor %j', async (after) => {
    const store = await open();
    const rejected = await store
      .list({ organization: 'a', limit: 20, after })
      .catch((error: unknown) => error);
    expect(rejected).toBeInstanceOf(ServiceError);
    expect(rejected).toMatchObject({ kind: 'invalid_request', param: 'after' });
  });

  test('rejects a row of another organization as a cursor like an unknown one', async () => {
    const store = await open();
    const foreign = usageRecord({ organization: 'b' });
    await store.insert(foreign);
    const unknown = await store
      .list({ organization: 'a', limit: 20, after: 'x' })
      .catch((error: Error) => error.message);
    const hidden = await store
      .list({ organization: 'a', limit: 20, after: foreign.id })
      .catch((error: Error) => error.message);
    expect(hidden).toBe(unknown);
  });

  test('filters rows by the exact endpoint, also across pages', async () => {
    const store = await open();
    const rows = Array.from({ length: 3 }, () => usageRecord());
    for (const row of rows) await store.insert(row);
    const newest = rows.map(({ id }) => id).reverse();
    const endpoint = '/v1/audio/speech';
    expect(await ids(store, { endpoint, limit: 2 })).toEqual({ ids: newest.slice(0, 2), hasMore: true });
    expect(await ids(store, { endpoint, limit: 2, after: newest[1] })).toEqual({
      ids: newest.slice(2),
      hasMore: false,
    });
    for (const other of ['/v1/audio/speec', '/V1/audio/speech', '', '%', '\0']) {
      expect(await ids(store, { endpoint: other }), other).toEqual({ ids: [], hasMore: false });
    }
  });

  test('days have the sums of their rows by endpoint and model', async () => {
    const store = await open();
    const day = 20_000;
    const at = (days: number, seconds = 0) => day * 86_400 + days * 86_400 + seconds;
    const speech = { characters: 10, audioSeconds: 1.5, inputTokens: 1, outputTokens: 2 } as const;
    await store.insert(usageRecord({ createdAt: at(0), ...speech }));
    await store.insert(usageRecord({ createdAt: at(0, 86_399), ...speech, status: 'failed' }));
    await store.insert(usageRecord({ createdAt: at(0, 5), ...speech, status: 'cancelled', model: 'other' }));
    const transcription = { endpoint: '/v1/audio/transcriptions', inputTokens: 7, outputTokens: 0 } as const;
    await store.insert(usageRecord({ createdAt: at(1), ...transcription }));
    await store.insert(usageRecord({ createdAt: at(1), organization: 'b' }));
    await store.insert(usageRecord({ createdAt: at(-1) }));
    await store.insert(usageRecord({ createdAt: at(2) }));
    const of = (overrides: object) => ({
      day,
      endpoint: '/v1/audio/speech',
      model: 'svc-tts',
      requests: 1,
      failed: 0,
      inputTokens: 1,
      outputTokens: 2,
      characters: 10,
      audioSeconds: 1.5,
      charged: 0,
      ...overrides,
    });
    expect(await store.days({ organization: 'a', from: day, to: day + 1 })).toEqual([
      of({ model: 'other' }),
      of({ requests: 2, failed: 1, inputTokens: 2, outputTokens: 4, characters: 20, audioSeconds: 3 }),
      of({ ...transcription, day: day + 1, characters: 0, audioSeconds: 0 }),
    ]);
    expect(await store.days({ organization: 'c', from: 0, to: 99_999 })).toEqual([]);
  });

  test('an id cannot be stored twice', async () => {
    const store = await open();
    const row = usageRecord();
    await store.insert(row);
    await expect(store.insert(row)).rejects.toThrow();
  });
}
