import { describe, expect, test } from 'vitest';
import { newId } from '../../src/contract/core/id.ts';
import {
  type BatchStatus,
  FINAL_BATCH_STATUSES,
  OPEN_BATCH_STATUSES,
} from '../../src/contract/stores/batch-store.ts';
import { type FileRecord, type FileStore, IDEMPOTENCY_KEY_S } from '../../src/contract/stores/file-store.ts';

const NOW = 1_767_323_045;
/** A storage limit above the size of all cases. */
export const ROOM = Number.MAX_SAFE_INTEGER;

export function fileRecord(overrides: Partial<FileRecord> = {}): FileRecord {
  return {
    id: newId('file-'),
    organization: 'a',
    purpose: 'batch',
    filename: 'lines.jsonl',
    lengthBytes: 12,
    sha256: 'ab'.repeat(32),
    createdAt: NOW,
    expiresAt: undefined,
    ...overrides,
  };
}

export interface FileStoreParts {
  readonly store: FileStore;
  /** Stores a batch of organization `a` with an input file and a status. */
  addBatch(input: FileRecord, status: BatchStatus): Promise<void>;
}

/** Contract of the file store. `open` returns an empty store. */
export function fileStoreCases(open: () => Promise<FileStoreParts>): void {
  /** Stores files, the oldest first. */
  async function stored(store: FileStore, count: number, overrides: Partial<FileRecord> = {}) {
    const files = Array.from({ length: count }, (_, at) =>
      fileRecord({ createdAt: NOW + at, filename: `${at}.jsonl`, ...overrides }),
    );
    for (const file of files) await store.put(file, ROOM);
    return files;
  }
  const page = (store: FileStore, query: Partial<Parameters<FileStore['list']>[0]> = {}) =>
    store.list({ organization: 'a', limit: 10, order: 'desc', at: NOW, ...query });
  const namesOf = async (...query: Parameters<typeof page>) => {
    const { files, hasMore } = await page(...query);
    return [files.map(({ filename }) => filename), hasMore];
  };

  describe('a file', () => {
    test('is read with all its fields', async () => {
      const { store } = await open();
      for (const file of [
        fileRecord({ filename: 'Grüße "你好"\\ \' %.jsonl', lengthBytes: 0 }),
        fileRecord({ purpose: 'batch_output', expiresAt: NOW + 3600, lengthBytes: 200_000_000 }),
      ]) {
        expect(await store.put(file, ROOM)).toEqual(file);
        expect(await store.get('a', file.id, NOW)).toEqual(file);
      }
    });

    test('cannot be stored twice', async () => {
      const { store } = await open();
      const file = fileRecord();
      await store.put(file, ROOM);
      await expect(store.put(file, ROOM)).rejects.toThrow();
    });

    test('does not exist after its deletion', async () => {
      const { store } = await open();
      const [file, other] = await stored(store, 2);
      expect(await store.delete('a', file?.id ?? '', NOW)).toBe(true);
      expect(await store.delete('a', file?.id ?? '', NOW)).toBe(false);
      expect(await store.get('a', file?.id ?? '', NOW)).toBeUndefined();
      expect((await page(store)).files).toEqual([other]);
    });

    test.each(['file-unknown', '', '\0', "' OR 1=1 --"])('does not find the id %j', async (id) => {
      const { store } = await open();
      await store.put(fileRecord(), ROOM);
      expect(await store.get('a', id, NOW)).toBeUndefined();
      expect(await store.delete('a', id, NOW)).toBe(false);
      await expect(page(store, { after: id })).rejects.toMatchObject({
        kind: 'invalid_request',
        param: 'after',
      });
    });
  });

  test('organizations do not see each other', async () => {
    const { store } = await open();
    const foreign = fileRecord({ organization: 'b' });
    await store.put(foreign, ROOM);
    expect(await store.get('a', foreign.id, NOW)).toBeUndefined();
    expect(await store.delete('a', foreign.id, NOW)).toBe(false);
    expect(await page(store)).toEqual({ files: [], hasMore: false });
    await expect(page(store, { after: foreign.id })).rejects.toMatchObject({ param: 'after' });
    expect(await store.get('b', foreign.id, NOW)).toEqual(foreign);
  });

  describe('pages', () => {
    test('follow each other in both orders, without gap or overlap', async () => {
      const { store } = await open();
      const [, second, third] = await stored(store, 5);
      expect(await namesOf(store)).toEqual([['4.jsonl', '3.jsonl', '2.jsonl', '1.jsonl', '0.jsonl'], false]);
      expect(await namesOf(store, { limit: 2 })).toEqual([['4.jsonl', '3.jsonl'], true]);
      expect(await namesOf(store, { limit: 2, after: third?.id })).toEqual([['1.jsonl', '0.jsonl'], false]);
      expect(await namesOf(store, { limit: 2, order: 'asc' })).toEqual([['0.jsonl', '1.jsonl'], true]);
      const asc = { limit: 2, order: 'asc', after: second?.id } as const;
      expect(await namesOf(store, asc)).toEqual([['2.jsonl', '3.jsonl'], true]);
    });

    test('can be filtered by purpose', async () => {
      const { store } = await open();
      const [first] = await stored(store, 2);
      await stored(store, 1, { purpose: 'batch_output', filename: 'out' });
      expect(await namesOf(store, { purpose: 'batch_output' })).toEqual([['out'], false]);
      expect(await namesOf(store, { purpose: 'batch', limit: 1 })).toEqual([['1.jsonl'], true]);
      // The cursor is a position in the list, regardless of the purpose.
      const after = first?.id;
      expect(await namesOf(store, { purpose: 'batch_output', order: 'asc', after })).toEqual([
        ['out'],
        false,
      ]);
    });
  });

  describe('a file that has expired', () => {
    test('is not found from its expiration on', async () => {
      const { store } = await open();
      const file = fileRecord({ expiresAt: NOW + 10 });
      await store.put(file, ROOM);
      expect(await store.get('a', file.id, NOW + 9)).toEqual(file);
      expect(await store.get('a', file.id, NOW + 10)).toBeUndefined();
      expect((await page(store, { at: NOW + 10 })).files).toEqual([]);
      await expect(page(store, { at: NOW + 10, after: file.id })).rejects.toMatchObject({ param: 'after' });
    });

    test('is listed for the sweep across organizations, oldest first, until it is deleted', async () => {
      const { store } = await open();
      const first = fileRecord({ expiresAt: NOW + 5, organization: 'b' });
      const second = fileRecord({ expiresAt: NOW + 10 });
      await stored(store, 1);
      for (const file of [second, first]) await store.put(file, ROOM);
      expect(await store.listExpired(NOW + 4, 10)).toEqual([]);
      expect(await store.listExpired(NOW + 10, 10)).toEqual([first, second]);
      expect(await store.listExpired(NOW + 10, 1)).toEqual([first]);
      expect(await store.delete('b', first.id, NOW + 10)).toBe(false);
      expect(await store.listExpired(NOW + 10, 10)).toEqual([second]);
    });
  });

  describe('the input file of a batch', () => {
    test.each(OPEN_BATCH_STATUSES)('cannot be deleted while the batch is %s', async (status) => {
      const { store, addBatch } = await open();
      const file = fileRecord({ expiresAt: NOW + 10 });
      await store.put(file, ROOM);
      await addBatch(file, status);
      await expect(store.delete('a', file.id, NOW)).rejects.toMatchObject({
        kind: 'conflict',
        code: 'file_in_use',
      });
      expect(await store.get('a', file.id, NOW)).toEqual(file);
      expect(await store.listExpired(NOW + 10, 10)).toEqual([]);
    });
    test.each([...FINAL_BATCH_STATUSES])('can be deleted when the batch is %s', async (status) => {
      const { store, addBatch } = await open();
      const file = fileRecord({ expiresAt: NOW + 10 });
      await store.put(file, ROOM);
      await addBatch(file, status);
      expect(await store.listExpired(NOW + 10, 10)).toEqual([file]);
      expect(await store.delete('a', file.id, NOW)).toBe(true);
    });
  });

  describe('the storage limit', () => {
    const full = { kind: 'invalid_request', param: 'file', code: 'storage_limit_exceeded' };
    const put = (store: FileStore, lengthBytes: number, organization = 'a') =>
      store.put(fileRecord({ lengthBytes, organization }), 100);

    test('counts bytes; an empty file is always accepted', async () => {
      const { store } = await open();
      await put(store, 60);
      await store.requireCapacity('a', 100);
      const message = await put(store, 41).catch((error: Error) => error.message);
      expect(message).toMatch(/use 60 of at most 100 bytes.+Delete/);
      await put(store, 40);
      await expect(store.requireCapacity('a', 100)).rejects.toMatchObject(full);
      await expect(put(store, 1)).rejects.toMatchObject(full);
      await put(store, 0);
      expect((await page(store)).files).toHaveLength(3);
    });

    test('applies per organization; deletion of a file frees its bytes', async () => {
      const { store } = await open();
      const { id } = await put(store, 100);
      await put(store, 100, 'b');
      await store.delete('a', id, NOW);
      await store.requireCapacity('a', 100);
      await put(store, 100);
    });

    test('includes batch output and expired files that are not deleted yet', async () => {
      const { store } = await open();
      await store.put(fileRecord({ lengthBytes: 50, purpose: 'batch_output' }), 100);
      await store.put(fileRecord({ lengthBytes: 50, expiresAt: NOW - 10 }), 100);
      await expect(put(store, 1)).rejects.toMatchObject(full);
    });

    test('holds for concurrent files', async () => {
      const { store } = await open();
      const created = await Promise.allSettled(Array.from({ length: 8 }, () => put(store, 40)));
      expect(created.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
      for (const one of created) if (one.status === 'rejected') expect(one.reason).toMatchObject(full);
    });

    test('leaves the idempotency key unused on rejection and does not apply to a repeated request', async () => {
      const { store } = await open();
      const key = { key: 'k', fingerprint: 'f' };
      const existing = await put(store, 100);
      const file = fileRecord({ lengthBytes: 100 });
      await expect(store.put(file, 100, key)).rejects.toMatchObject(full);
      await store.delete('a', existing.id, NOW);
      expect(await store.put(file, 100, { ...key, fingerprint: 'g' })).toEqual(file);
      expect(await store.put(fileRecord(), 100, { ...key, fingerprint: 'g' })).toEqual(file);
    });
  });

  describe('an idempotency key', () => {
    const key = { key: 'k', fingerprint: 'f' };
    test('returns the file of the first request to later requests', async () => {
      const { store } = await open();
      const first = fileRecord();
      expect(await store.put(first, ROOM, key)).toEqual(first);
      expect(await store.put(fileRecord({ createdAt: NOW + 5 }), ROOM, key)).toEqual(first);
      expect((await page(store)).files).toEqual([first]);
    });

    test('creates one file for concurrent requests', async () => {
      const { store } = await open();
      const created = await Promise.all(Array.from({ length: 8 }, () => store.put(fileRecord(), ROOM, key)));
      expect(new Set(created.map(({ id }) => id)).size).toBe(1);
      expect((await page(store)).files).toEqual([created[0]]);
    });

    test('with another fingerprint is rejected, and nothing is stored', async () => {
      const { store } = await open();
      const first = fileRecord();
      await store.put(first, ROOM, key);
      await expect(store.put(fileRecord(), ROOM, { ...key, fingerprint: 'g' })).rejects.toMatchObject({
        kind: 'conflict',
        code: 'idempotency_conflict',
      });
      expect((await page(store)).files).toEqual([first]);
    });

    test('belongs to one organization', async () => {
      const { store } = await open();
      await store.put(fileRecord(), ROOM, key);
      const other = fileRecord({ organization: 'b' });
      expect(await store.put(other, ROOM, { ...key, fingerprint: 'g' })).toEqual(other);
    });

    test.each([
      ['after a day', (store: FileStore) => store.deleteIdempotencyKeys(0), IDEMPOTENCY_KEY_S],
      ['after the sweep', (store: FileStore) => store.deleteIdempotencyKeys(NOW + 1), 1],
      ['after deletion of its file', (store: FileStore, id: string) => store.delete('a', id, NOW), 1],
    ])('is unused again %s', async (_, change, laterS) => {
      const { store } = await open();
      const first = fileRecord();
      await store.put(first, ROOM, key);
      await change(store, first.id);
      const second = fileRecord({ createdAt: NOW + laterS });
      const other = { ...key, fingerprint: 'g' };
      expect(await store.put(second, ROOM, other)).toEqual(second);
      expect(await store.put(fileRecord({ createdAt: NOW + laterS }), ROOM, other)).toEqual(second);
    });

    test('is deleted by age', async () => {
      const { store } = await open();
      await store.put(fileRecord(), ROOM, key);
      await store.put(fileRecord({ createdAt: NOW + 1 }), ROOM, { ...key, key: 'later' });
      expect(await store.deleteIdempotencyKeys(NOW)).toBe(0);
      expect(await store.deleteIdempotencyKeys(NOW + 1)).toBe(1);
      expect(await store.deleteIdempotencyKeys(NOW + 2)).toBe(1);
    });
  });

  test('existing files are returned for a list of ids', async () => {
    const { store } = await open();
    const [file] = await stored(store, 1);
    if (file === undefined) throw new Error('the file was not stored');
    expect(await store.filterExisting([file.id, 'file-unknown'])).toEqual(new Set([file.id]));
    expect(await store.filterExisting([])).toEqual(new Set());
  });
}
