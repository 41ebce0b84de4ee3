import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Event, next } from '../../plugins/batch/runner/state-machine.ts';
import type { CallJournal, CreditStore, JournalCall } from '../../src/contract/accounts/accounts-store.ts';
import type { LineBill } from '../../src/contract/accounts/calls.ts';
import type { UsageReader } from '../../src/contract/accounts/usage.ts';
import { newId } from '../../src/contract/core/id.ts';
import {
  type BatchRecord,
  type BatchStatus,
  type BatchStore,
  type Checkpoint,
  FINAL_BATCH_STATUSES,
  MAX_LINES_AHEAD,
} from '../../src/contract/stores/batch-store.ts';
import type { FileRecord, FileStore, IdempotencyKey } from '../../src/contract/stores/file-store.ts';
import { journalCall, rowOf } from './accounts-store.cases.ts';
import { fileRecord, ROOM } from './file-store.cases.ts';

const NOW = 1_767_323_045;
const DAY_S = 86_400;
const MAX_OPEN = 100;

/** The batch store and the stores that it changes, in one database. */
export interface BatchStores {
  readonly batches: BatchStore;
  readonly files: FileStore;
  readonly calls: CallJournal;
  readonly credits: CreditStore;
  readonly usage: UsageReader;
}

export function batchRecord(overrides: Partial<BatchRecord> = {}): BatchRecord {
  return {
    id: newId('batch_'),
    organization: 'a',
    keyId: 'key_1',
    endpoint: '/v1/embeddings',
    inputFile: newId('file-'),
    metadata: null,
    outputExpiresAfterS: undefined,
    status: 'validating',
    times: { created: NOW, expires: NOW + DAY_S },
    counts: { total: 0, completed: 0, failed: 0 },
    tokens: { input: 0, output: 0 },
    model: undefined,
    errors: [],
    outputFile: undefined,
    errorFile: undefined,
    ...overrides,
  };
}

export function checkpointOf(overrides: Partial<Checkpoint> = {}): Checkpoint {
  return {
    progress: { offsetBytes: 0, line: 1, ahead: [] },
    parts: [],
    completed: 0,
    failed: 0,
    tokens: { input: 0, output: 0 },
    bills: [],
    ...overrides,
  };
}

/** Contract of the batch store. `open` returns an empty store. */
export function batchStoreCases(open: () => Promise<BatchStores>): void {
  async function storedBatch({ batches, files }: BatchStores, overrides: Partial<BatchRecord> = {}) {
    const file = fileRecord({ organization: overrides.organization ?? 'a' });
    await files.put(file, ROOM);
    return batches.create(batchRecord({ inputFile: file.id, ...overrides }), MAX_OPEN);
  }

  /** Creates a batch that runner `r1` is processing. */
  async function startedBatch(stores: BatchStores, total = 3, overrides: Partial<BatchRecord> = {}) {
    const { id } = await storedBatch(stores, overrides);
    await stores.batches.claim(id, 'r1');
    await stores.batches.startProcessing(id, 'r1', { total, model: 'm', at: NOW + 1 });
    return id;
  }

  const output = (overrides: Partial<FileRecord> = {}) =>
    fileRecord({ purpose: 'batch_output', ...overrides });

  describe('a new batch', () => {
    test('is read with all its fields', async () => {
      const stores = await open();
      const metadata = { topic: 'Grüße, 你好 👋 \0 "\\"', '': '' };
      for (const overrides of [{}, { metadata, outputExpiresAfterS: 3600 }, { metadata: {} }]) {
        const batch = await storedBatch(stores, overrides);
        expect(await stores.batches.get('a', batch.id)).toEqual(batch);
        expect(batch).toEqual(batchRecord({ ...overrides, id: batch.id, inputFile: batch.inputFile }));
      }
    });

    test.each([
      ['that does not exist', undefined],
      ['of another organization', fileRecord({ organization: 'b' })],
      ['of batch output', output()],
      ['that has expired', fileRecord({ expiresAt: NOW })],
    ])('is rejected for an input file %s', async (_, file) => {
      const { batches, files } = await open();
      if (file !== undefined) await files.put(file, ROOM);
      const batch = batchRecord({ inputFile: file?.id ?? newId('file-') });
      await expect(batches.create(batch, MAX_OPEN)).rejects.toMatchObject({
        kind: 'invalid_request',
        param: 'input_file_id',
      });
      expect(await batches.get('a', batch.id)).toBeUndefined();
    });

    test('is rejected over the limit of open batches of the organization', async () => {
      const stores = await open();
      const { batches } = stores;
      const [first] = [await startedBatch(stores), await storedBatch(stores)];
      await storedBatch(stores, { organization: 'b' });
      const { inputFile } = await storedBatch(stores);
      const another = () => batches.create(batchRecord({ inputFile }), 3);
      await expect(another()).rejects.toMatchObject({
        kind: 'rate_limited',
        code: 'rate_limit_exceeded',
        retryAfterS: expect.any(Number),
      });
      await batches.finish(first, 'r1', { status: 'expired', files: {}, at: NOW });
      await another();
      await expect(another()).rejects.toMatchObject({ kind: 'rate_limited' });
    });

    test('is created only up to the limit by 200 concurrent requests', async () => {
      const stores = await open();
      const { inputFile } = await storedBatch(stores);
      const created = await Promise.allSettled(
        Array.from({ length: 200 }, () => stores.batches.create(batchRecord({ inputFile }), 40)),
      );
      expect(created.filter(({ status }) => status === 'fulfilled')).toHaveLength(39);
      for (const each of created) {
        if (each.status === 'rejected') expect(each.reason).toMatchObject({ kind: 'rate_limited' });
      }
      expect(await stores.batches.listOpen(500)).toHaveLength(40);
    });

    test('prevents deletion of its input file until it ends, also concurrently with its creation', async () => {
      const stores = await open();
      const { batches, files } = stores;
      const id = await startedBatch(stores);
      const { inputFile } = (await batches.get('a', id)) ?? {};
      await expect(files.delete('a', inputFile ?? '', NOW)).rejects.toMatchObject({ code: 'file_in_use' });
      await batches.finish(id, 'r1', { status: 'expired', files: {}, at: NOW });
      expect(await files.delete('a', inputFile ?? '', NOW)).toBe(true);

      for (let round = 0; round < 20; round += 1) {
        const file = fileRecord();
        await files.put(file, ROOM);
        const [created, deleted] = await Promise.allSettled([
          batches.create(batchRecord({ inputFile: file.id }), MAX_OPEN),
          files.delete('a', file.id, NOW),
        ]);
        expect([created.status, deleted.status].sort()).toEqual(['fulfilled', 'rejected']);
      }
    });
  });

  describe('an idempotency key', () => {
    const key = (overrides: Partial<IdempotencyKey> = {}) => ({ key: 'k', fingerprint: 'f', ...overrides });

    test('creates one batch; later requests get its current state', async () => {
      const stores = await open();
      const { inputFile } = await storedBatch(stores);
      const make = (at = NOW, idempotency = key()) =>
        stores.batches.create(
          batchRecord({ inputFile, times: { created: at, expires: at + DAY_S } }),
          3,
          idempotency,
        );
      const all = await Promise.all([make(), make(), make(), make()]);
      const [first] = all;
      expect(new Set(all.map(({ id }) => id)).size).toBe(1);
      await stores.batches.cancel('a', first.id, NOW);
      expect(await make(NOW + 5)).toMatchObject({ id: first.id, status: 'cancelling' });
      await expect(make(NOW, key({ fingerprint: 'g' }))).rejects.toMatchObject({
        kind: 'conflict',
        code: 'idempotency_conflict',
      });
      expect((await make(NOW, key({ key: 'other' }))).id).not.toBe(first.id);
      // The limit is reached, and the created batch is still returned.
      await expect(make(NOW, key({ key: 'third' }))).rejects.toMatchObject({ kind: 'rate_limited' });
      expect((await make()).id).toBe(first.id);
    });

    test('is separate per organization and resource, and unused after a rejected request', async () => {
      const stores = await open();
      const { batches, files } = stores;
      const [mine, theirs] = [fileRecord(), fileRecord({ organization: 'b' })];
      const rejected = batches.create(batchRecord({ inputFile: mine.id }), MAX_OPEN, key());
      await expect(rejected).rejects.toMatchObject({ param: 'input_file_id' });
      await files.put(mine, ROOM, key());
      await files.put(theirs, ROOM);
      const batch = await batches.create(batchRecord({ inputFile: mine.id }), MAX_OPEN, key());
      const other = batchRecord({ organization: 'b', inputFile: theirs.id });
      expect((await batches.create(other, MAX_OPEN, key({ fingerprint: 'g' }))).id).toBe(other.id);
      expect((await batches.create(batchRecord(), MAX_OPEN, key())).id).toBe(batch.id);
    });
  });

  describe('the list', () => {
    test('has the batches of one organization, newest first, in pages', async () => {
      const stores = await open();
      const ids: string[] = [];
      for (let count = 0; count < 5; count += 1) {
        ids.unshift((await storedBatch(stores)).id);
        await storedBatch(stores, { organization: 'b' });
      }
      const page = async (after?: string) => {
        const found = await stores.batches.list({ organization: 'a', limit: 2, after });
        return [found.batches.map(({ id }) => id), found.hasMore];
      };
      expect(await page()).toEqual([ids.slice(0, 2), true]);
      expect(await page(ids[1])).toEqual([ids.slice(2, 4), true]);
      expect(await page(ids[3])).toEqual([ids.slice(4), false]);
      expect(await page(ids[4])).toEqual([[], false]);
    });

    test('rejects unknown cursors and batches of other organizations', async () => {
      const stores = await open();
      const { id } = await storedBatch(stores, { organization: 'b' });
      for (const after of [id, 'batch_unknown', '', "' OR 1=1 --", '\0']) {
        await expect(stores.batches.list({ organization: 'a', limit: 2, after })).rejects.toMatchObject({
          kind: 'invalid_request',
          param: 'after',
        });
      }
    });
  });

  test('organizations do not see each other', async () => {
    const stores = await open();
    const { batches } = stores;
    const id = await startedBatch(stores, 3, { organization: 'b' });
    expect(await batches.get('a', id)).toBeUndefined();
    expect(await batches.cancel('a', id, NOW)).toBeUndefined();
    expect((await batches.list({ organization: 'a', limit: 5 })).batches).toEqual([]);
    expect(await batches.get('b', id)).toMatchObject({ status: 'in_progress' });
  });

  describe('runners', () => {
    test('can take over a batch; the previous runner can no longer write', async () => {
      const stores = await open();
      const { batches } = stores;
      const id = await startedBatch(stores);
      const progress = { offsetBytes: 70, line: 3, ahead: [5, 9] };
      await batches.checkpoint(id, 'r1', checkpointOf({ progress, completed: 2 }));
      const claimed = await batches.claim(id, 'r2');
      expect(claimed).toEqual({ batch: await batches.get('a', id), isFirst: false, progress });

      const before = await batches.get('a', id);
      const late = checkpointOf({ completed: 1, parts: [{ kind: 'output', blob: 'late', lengthBytes: 1 }] });
      expect(await batches.refresh(id, 'r1')).toBeUndefined();
      expect(await batches.checkpoint(id, 'r1', late)).toBeUndefined();
      expect(await batches.startProcessing(id, 'r1', { total: 9, model: undefined, at: NOW })).toBe(false);
      expect(await batches.fail(id, 'r1', [], NOW)).toBe(false);
      expect(await batches.finalize(id, 'r1', NOW)).toBe(false);
      const end = { status: 'expired', files: { output: output() }, at: NOW } as const;
      expect(await batches.finish(id, 'r1', end)).toBe(false);
      expect(await batches.get('a', id)).toEqual(before);
      expect(await batches.listParts(id)).toEqual([]);
      expect(await stores.files.filterExisting([end.files.output.id])).toEqual(new Set());
      expect(await batches.refresh(id, 'r2')).toEqual(before);
    });

    test('that claim concurrently: exactly one is the first', async () => {
      const stores = await open();
      const { id } = await storedBatch(stores);
      const claims = await Promise.all(
        Array.from({ length: 10 }, (_, at) => stores.batches.claim(id, `r${at}`)),
      );
      expect(claims.filter((claimed) => claimed?.isFirst)).toHaveLength(1);
      expect(await stores.batches.claim(id, 'later')).toMatchObject({ isFirst: false });
    });

    test('cannot claim ended or unknown batches', async () => {
      const stores = await open();
      const id = await startedBatch(stores);
      await stores.batches.finish(id, 'r1', { status: 'expired', files: {}, at: NOW });
      expect(await stores.batches.claim(id, 'r2')).toBeUndefined();
      expect(await stores.batches.claim(newId('batch_'), 'r2')).toBeUndefined();
      expect(await stores.batches.refresh(id, 'r1')).toMatchObject({ status: 'expired' });
    });

    test('that claim concurrently: the last claim wins', async () => {
      const stores = await open();
      const { id } = await storedBatch(stores);
      const runners = Array.from({ length: 20 }, (_, at) => `r${at}`);
      await Promise.all(runners.map((runner) => stores.batches.claim(id, runner)));
      const claimed = await Promise.all(runners.map((runner) => stores.batches.refresh(id, runner)));
      expect(claimed.filter((batch) => batch !== undefined)).toHaveLength(1);
    });
  });

  describe('a checkpoint', () => {
    const call = (overrides: Partial<JournalCall> = {}) =>
      journalCall({ repeated: true, endpoint: 'POST /v1/embeddings', ...overrides });
    const bill = (of: JournalCall, cost: number): LineBill => ({
      record: rowOf(of),
      cost,
      hasReservation: of.reserved > 0,
    });

    test('adds to the earlier checkpoints', async () => {
      const stores = await open();
      const { batches } = stores;
      const id = await startedBatch(stores, 10);
      const part = (blob: string, kind: 'output' | 'error' = 'output') => ({ kind, blob, lengthBytes: 7 });
      const first = await batches.checkpoint(
        id,
        'r1',
        checkpointOf({
          progress: { offsetBytes: 50, line: 2, ahead: [4] },
          parts: [part('1'), part('2', 'error')],
          completed: 1,
          failed: 1,
          tokens: { input: 5, output: 6 },
        }),
      );
      expect(first).toEqual({ batch: await batches.get('a', id), uncovered: 0 });
      const progress = { offsetBytes: 3_000_000_000, line: 6, ahead: [] };
      await batches.checkpoint(
        id,
        'r1',
        checkpointOf({ progress, parts: [part('3')], completed: 3, tokens: { input: 1, output: 3e9 } }),
      );
      expect(await batches.get('a', id)).toMatchObject({
        status: 'in_progress',
        counts: { total: 10, completed: 4, failed: 1 },
        tokens: { input: 6, output: 3_000_000_006 },
      });
      expect(await batches.listParts(id)).toEqual([part('1'), part('2', 'error'), part('3')]);
      expect((await batches.claim(id, 'r2'))?.progress).toEqual(progress);
    });

    test('of 1,200 lines has its rows and charges', async () => {
      const stores = await open();
      const id = await startedBatch(stores, 1200);
      await stores.credits.grant('a', 10_000, NOW);
      const calls = Array.from({ length: 1200 }, (_, line) => call({ reserved: (line % 2) * 3 }));
      for (const each of calls) if (each.reserved > 0) await stores.calls.openCall(each);
      const bills = calls.map((each) => bill(each, 2));
      const parts = bills.map((_, at) => ({ kind: 'output' as const, blob: `${at}`, lengthBytes: 1 }));
      await stores.batches.checkpoint(id, 'r1', checkpointOf({ completed: 1200, parts, bills }));
      expect(await stores.credits.balance('a')).toMatchObject({
        available: 7600,
        reserved: 0,
        revenue: 2400,
      });
      expect((await stores.usage.list({ organization: 'a', limit: 2000 })).records).toHaveLength(1200);
      expect(await stores.batches.listParts(id)).toEqual(parts);
    });

    test('reports usage that credits did not cover', async () => {
      const stores = await open();
      const id = await startedBatch(stores, 10);
      await stores.credits.grant('a', 12, NOW);
      const reserving = call({ reserved: 4 });
      await stores.calls.openCall(reserving);
      const bills = [bill(reserving, 7), bill(call(), 6)];
      const saved = await stores.batches.checkpoint(id, 'r1', checkpointOf({ completed: 2, bills }));
      expect(saved?.uncovered).toBe(1);
      expect(await stores.credits.balance('a')).toMatchObject({ available: 0, reserved: 0, revenue: 12 });
    });

    test('that fails in the middle stores nothing', async () => {
      const stores = await open();
      const { batches } = stores;
      const id = await startedBatch(stores);
      await stores.credits.grant('a', 100, NOW);
      const reserving = call({ reserved: 30 });
      await stores.calls.openCall(reserving);
      const before = [await batches.get('a', id), await stores.credits.balance('a')];
      const done = checkpointOf({
        progress: { offsetBytes: 9, line: 3, ahead: [] },
        parts: [{ kind: 'output', blob: 'x', lengthBytes: 1 }],
        completed: 2,
        // A call cannot have a second row.
        bills: [bill(reserving, 5), bill(reserving, 5)],
      });
      await expect(batches.checkpoint(id, 'r1', done)).rejects.toThrow();
      expect([await batches.get('a', id), await stores.credits.balance('a')]).toEqual(before);
      expect(await batches.listParts(id)).toEqual([]);
      expect(await stores.calls.listOpenCalls(reserving.instance, 5)).toEqual([reserving]);
      expect((await stores.usage.list({ organization: 'a', limit: 5 })).records).toEqual([]);
      expect((await batches.claim(id, 'r2'))?.progress).toEqual({ offsetBytes: 0, line: 1, ahead: [] });
    });

    test('of a runner that lost the batch charges nothing', async () => {
      const stores = await open();
      const id = await startedBatch(stores);
      await stores.credits.grant('a', 100, NOW);
      await stores.batches.claim(id, 'r2');
      const late = checkpointOf({ completed: 1, bills: [bill(call(), 5)] });
      expect(await stores.batches.checkpoint(id, 'r1', late)).toBeUndefined();
      expect(await stores.credits.balance('a')).toMatchObject({ available: 100 });
      expect((await stores.usage.list({ organization: 'a', limit: 5 })).records).toEqual([]);
    });

    test('stores finished lines ahead up to their limit', async () => {
      const stores = await open();
      const id = await startedBatch(stores, 5000);
      const ahead = Array.from({ length: MAX_LINES_AHEAD }, (_, at) => at + 2);
      const progress = { offsetBytes: 0, line: 1, ahead };
      await stores.batches.checkpoint(id, 'r1', checkpointOf({ progress }));
      expect((await stores.batches.claim(id, 'r2'))?.progress).toEqual(progress);
      const more = checkpointOf({ progress: { ...progress, ahead: [...ahead, 3000] } });
      await expect(async () => stores.batches.checkpoint(id, 'r2', more)).rejects.toThrow();
    });
  });

  describe('the end of a batch', () => {
    test('stores the result files in the same transaction and deletes the parts', async () => {
      const stores = await open();
      const { batches, files } = stores;
      const id = await startedBatch(stores, 2);
      const parts = [{ kind: 'output', blob: 'x', lengthBytes: 1 }] as const;
      await batches.checkpoint(id, 'r1', checkpointOf({ completed: 1, failed: 1, parts }));
      expect(await batches.finalize(id, 'r1', NOW + 2)).toBe(true);
      const created = {
        output: output({ filename: 'o' }),
        error: output({ filename: 'e', expiresAt: NOW + 9 }),
      };
      expect(await batches.finish(id, 'r1', { status: 'completed', files: created, at: NOW + 3 })).toBe(true);
      expect(await batches.get('a', id)).toMatchObject({
        status: 'completed',
        times: { created: NOW, inProgress: NOW + 1, finalizing: NOW + 2, completed: NOW + 3 },
        outputFile: created.output.id,
        errorFile: created.error.id,
        model: 'm',
      });
      expect(await files.get('a', created.output.id, NOW)).toEqual(created.output);
      expect(await files.get('a', created.error.id, NOW)).toEqual(created.error);
      expect(await batches.listParts(id)).toEqual([]);
      // A retry by a runner that did not receive the response.
      expect(await batches.finish(id, 'r1', { status: 'completed', files: created, at: NOW + 4 })).toBe(
        false,
      );
    });

    test('may have no files', async () => {
      const stores = await open();
      const id = await startedBatch(stores, 0);
      await stores.batches.cancel('a', id, NOW + 2);
      expect(await stores.batches.finish(id, 'r1', { status: 'cancelled', files: {}, at: NOW + 3 })).toBe(
        true,
      );
      expect(await stores.batches.get('a', id)).toMatchObject({
        status: 'cancelled',
        times: { cancelling: NOW + 2, cancelled: NOW + 3 },
        outputFile: undefined,
        errorFile: undefined,
      });
    });

    test('stores the errors of lost input', async () => {
      const stores = await open();
      const id = await startedBatch(stores, 2);
      const errors = [{ code: 'input_file_lost', message: 'Gone.', param: null, line: null }];
      const end = { status: 'expired', files: {}, errors, at: NOW + 2 } as const;
      expect(await stores.batches.finish(id, 'r1', end)).toBe(true);
      expect(await stores.batches.get('a', id)).toMatchObject({ status: 'expired', errors });
    });

    test('is possible only when every line has a result', async () => {
      const stores = await open();
      const id = await startedBatch(stores, 3);
      await stores.batches.checkpoint(id, 'r1', checkpointOf({ completed: 1, failed: 1 }));
      expect(await stores.batches.finalize(id, 'r1', NOW)).toBe(false);
      await stores.batches.checkpoint(id, 'r1', checkpointOf({ completed: 1 }));
      expect(await stores.batches.finalize(id, 'r1', NOW)).toBe(true);
    });

    test('stores the errors of rejected input', async () => {
      const stores = await open();
      const { id } = await storedBatch(stores);
      await stores.batches.claim(id, 'r1');
      const errors = [
        { code: 'invalid_json_line', message: 'Line 3 is no JSON object: \0 👋.', param: null, line: 3 },
        { code: 'empty_file', message: 'The file has no line.', param: 'x', line: null },
      ];
      expect(await stores.batches.fail(id, 'r1', errors, NOW + 1)).toBe(true);
      expect(await stores.batches.get('a', id)).toMatchObject({
        status: 'failed',
        times: { failed: NOW + 1 },
        counts: { total: 0 },
        errors,
      });
    });
  });

  test('of a concurrent cancel and transition, exactly one succeeds', async () => {
    const stores = await open();
    const { batches } = stores;
    for (let round = 0; round < 30; round += 1) {
      const total = round % 2;
      const { id } = await storedBatch(stores, { organization: `o${round}` });
      await batches.claim(id, 'r1');
      const start = () => batches.startProcessing(id, 'r1', { total: 0, model: undefined, at: NOW });
      if (total === 1) await start();
      const [wasMoved, cancelled] = await Promise.all([
        total === 1 ? batches.finalize(id, 'r1', NOW) : start(),
        batches.cancel(`o${round}`, id, NOW),
      ]);
      const { status } = (await batches.get(`o${round}`, id)) ?? {};
      if (total === 1) expect([wasMoved, cancelled?.accepted]).toEqual([!cancelled?.accepted, !wasMoved]);
      else expect(cancelled?.accepted).toBe(true);
      expect(status).toBe(cancelled?.accepted ? 'cancelling' : 'finalizing');
    }
  });

  test('open batches are listed oldest first, page by page', async () => {
    const stores = await open();
    const ids = [await startedBatch(stores), await startedBatch(stores), (await storedBatch(stores)).id];
    const other = (await storedBatch(stores, { organization: 'b' })).id;
    await stores.batches.finish(ids[1] ?? newId('batch_'), 'r1', { status: 'expired', files: {}, at: NOW });
    expect(await stores.batches.listOpen(5)).toEqual([ids[0], ids[2], other]);
    expect(await stores.batches.listOpen(1)).toEqual([ids[0]]);
    expect(await stores.batches.listOpen(1, ids[0])).toEqual([ids[2]]);
    // The last batch of a page may have ended before the next page is requested.
    expect(await stores.batches.listOpen(5, ids[1])).toEqual([ids[2], other]);
    expect(await stores.batches.listOpen(5, other)).toEqual([]);
  });

  /** Events that a store handles. Lost input is an event of the runner only. */
  type StoreEvent = Exclude<Event, { kind: 'input_lost' }>;

  /** Applies an event of the state machine to the store. Returns whether it changed the batch. */
  async function applyEvent(
    { batches }: BatchStores,
    id: BatchRecord['id'],
    event: StoreEvent,
  ): Promise<boolean> {
    switch (event.kind) {
      case 'claimed':
        return (await batches.claim(id, 'r1')) !== undefined;
      case 'input_accepted':
        return batches.startProcessing(id, 'r1', { total: 0, model: undefined, at: NOW });
      case 'input_rejected':
        return batches.fail(id, 'r1', [], NOW);
      case 'lines_finished':
        return (await batches.checkpoint(id, 'r1', checkpointOf())) !== undefined;
      case 'last_line_finished':
        return batches.finalize(id, 'r1', NOW);
      case 'files_stored':
        return batches.finish(id, 'r1', { status: event.as, files: {}, at: NOW });
      case 'cancel_requested':
        return (await batches.cancel('a', id, NOW))?.accepted ?? false;
    }
  }

  const event: fc.Arbitrary<StoreEvent> = fc.oneof(
    fc.record({ kind: fc.constant('claimed' as const), late: fc.boolean() }),
    fc.constantFrom<StoreEvent>(
      { kind: 'input_accepted' },
      { kind: 'input_rejected' },
      { kind: 'lines_finished' },
      { kind: 'last_line_finished' },
      { kind: 'cancel_requested' },
      ...(['completed', 'cancelled', 'expired'] as const).map(
        (as) => ({ kind: 'files_stored', as }) as const,
      ),
    ),
  );

  test('changes state as the state machine does, for any order of events', async () => {
    const stores = await open();
    const seen = new Set<BatchStatus>();
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 15, maxLength: 30 }), async (events) => {
        const { id } = await storedBatch(stores);
        await stores.batches.claim(id, 'r1');
        let status: BatchStatus = 'validating';
        for (const each of events) {
          const step = next(status, each);
          const refuses = step.effects.some((effect) => effect.kind === 'respond' && effect.status === 409);
          const changes = step.status !== status || (step.effects.length > 0 && !refuses);
          expect(await applyEvent(stores, id, each), `${each.kind} of ${status}`).toBe(changes);
          status = step.status;
          expect((await stores.batches.get('a', id))?.status).toBe(status);
          seen.add(status);
        }
        if (!FINAL_BATCH_STATUSES.has(status)) await endBatch(stores, id);
      }),
      { seed: 11, numRuns: 100 },
    );
    for (const status of ['completed', 'cancelled', 'expired'] as const) expect(seen).toContain(status);
  });

  /** Ends a batch from any state, so that it no longer counts as open. */
  async function endBatch({ batches }: BatchStores, id: BatchRecord['id']): Promise<void> {
    await batches.startProcessing(id, 'r1', { total: 0, model: undefined, at: NOW });
    for (const status of ['expired', 'cancelled', 'completed'] as const) {
      await batches.finish(id, 'r1', { status, files: {}, at: NOW });
    }
  }
}
