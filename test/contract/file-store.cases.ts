import { describe, expect, test } from 'vitest';
import { newId } from '../../src/contract/core/id.ts';
import {
  type BatchStatus,
  FINAL_BATCH_STATUSES,
  OPEN_BATCH_STATUSES,
} from '../../src/contract/stores/batch-store.ts';
import { type FileRecord, type FileStore, IDEMPOTENCY_KEY_S } from '../../src/contract/stores/file-store.ts';

const NOW = 1_767_323_045;
/** More bytes than any case stores. */
export const ROOM = Number.MAX_SAFE_INTEGER;

export function fileRecord(overrides: Partial<FileRecord> = {}): FileRecord {
  return {
    id: newId('file'),
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
  /** Notes a batch of organization `a` in a status that has a file as its input. */
  addBatch(input: FileRecord, status: BatchStatus): Promise<void>;
}

/** What every store of files does. `open` gives an empty one. */
export function fileStoreCases(open: () => Promise<FileStoreParts>): void {
  /** Notes so many files, the oldest first. */
  async function stored(store: FileStore, count: number, overrides: Partial<FileRecord> = {}) {
    const files = Array.from({ length: count }, (_, at) =>
      fileRecord({ createdAt: NOW + at, filename: `${at}.jsonl`, ...overrides }),
    );
    for (const file of files) await store.put(file, ROOM);
    return files;
  }
  const page = (store: FileStore, query: Partial<Parameters<FileStore['list']>[0]> = {}) =>
    store.list({ organization: 'a', limit: 10, order: 'desc', at: NOW, ...query });
  const namesOf = async (...asked: Parameters<typeof page>) => {
    const { files, hasMore } = await page(...asked);
    return [files.map(({ filename }) => filename), hasMore];
  };

  describe('one file', () => {
    test('comes back with all its fields', async () => {
      const { store } = await open();
      for (const file of [
        fileRecord({ filename: 'Grüße "你好"\\ \' %.jsonl', lengthBytes: 0 }),
        fileRecord({ purpose: 'batch_output', expiresAt: NOW + 3600, lengthBytes: 200_000_000 }),
      ]) {
        expect(await store.put(file, ROOM)).toEqual(file);
        expect(await store.get('a', file.id, NOW)).toEqual(file);
      }
    });

    test('is stored once', async () => {
      const { store } = await open();
      const file = fileRecord();
      await store.put(file, ROOM);
      await expect(store.put(file, ROOM)).rejects.toThrow();
    });

    test('is gone when it was deleted', async () => {
      const { store } = await open();
      const [file, other] = await stored(store, 2);
      expect(await store.delete('a', file?.id ?? '', NOW)).toBe(true);
      expect(await store.delete('a', file?.id ?? '', NOW)).toBe(false);
      expect(await store.get('a', file?.id ?? '', NOW)).toBeUndefined();
      expect((await page(store)).files).toEqual([other]);
    });

    test.each(['file-unknown', '', '\0', "' OR 1=1 --"])('%j is not a file', async (id) => {
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

    test('are of one purpose when asked', async () => {
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
    test('is as if deleted from that second on', async () => {
      const { store } = await open();
      const file = fileRecord({ expiresAt: NOW + 10 });
      await store.put(file, ROOM);
      expect(await store.get('a', file.id, NOW + 9)).toEqual(file);
      expect(await store.get('a', file.id, NOW + 10)).toBeUndefined();
      expect((await page(store, { at: NOW + 10 })).files).toEqual([]);
      await expect(page(store, { at: NOW + 10, after: file.id })).rejects.toMatchObject({ param: 'after' });
    });

    test('is found for the sweep, of every organization, the oldest first, and goes with delete', async () => {
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

  describe('a batch that reads a file', () => {
    test.each(OPEN_BATCH_STATUSES)('keeps it while it is %s', async (status) => {
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
    test.each([...FINAL_BATCH_STATUSES])('lets it go when it is %s', async (status) => {
      const { store, addBatch } = await open();
      const file = fileRecord({ expiresAt: NOW + 10 });
      await store.put(file, ROOM);
      await addBatch(file, status);
      expect(await store.listExpired(NOW + 10, 10)).toEqual([file]);
      expect(await store.delete('a', file.id, NOW)).toBe(true);
    });
  });

  describe('room', () => {
    const full = { kind: 'invalid_request', param: 'file', code: 'storage_limit_exceeded' };
    const put = (store: FileStore, lengthBytes: number, organization = 'a') =>
      store.put(fileRecord({ lengthBytes, organization }), 100);

    test('is for so many bytes, and for an empty file when there is none', async () => {
      const { store } = await open();
      await put(store, 60);
      await store.requireCapacity('a', 100);
      const refused = await put(store, 41).catch((error: Error) => error.message);
      expect(refused).toMatch(/use 60 of at most 100 bytes.+Delete/);
      await put(store, 40);
      await expect(store.requireCapacity('a', 100)).rejects.toMatchObject(full);
      await expect(put(store, 1)).rejects.toMatchObject(full);
      await put(store, 0);
      expect((await page(store)).files).toHaveLength(3);
    });

    test('is each organization’s own, and comes back when a file is deleted', async () => {
      const { store } = await open();
      const { id } = await put(store, 100);
      await put(store, 100, 'b');
      await store.delete('a', id, NOW);
      await store.requireCapacity('a', 100);
      await put(store, 100);
    });

    test('is taken by results and by expired files that are still there', async () => {
      const { store } = await open();
      await store.put(fileRecord({ lengthBytes: 50, purpose: 'batch_output' }), 100);
      await store.put(fileRecord({ lengthBytes: 50, expiresAt: NOW - 10 }), 100);
      await expect(put(store, 1)).rejects.toMatchObject(full);
    });

    test('is not given twice to concurrent files', async () => {
      const { store } = await open();
      const made = await Promise.allSettled(Array.from({ length: 8 }, () => put(store, 40)));
      expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
      for (const one of made) if (one.status === 'rejected') expect(one.reason).toMatchObject(full);
    });

    test('that is missing leaves the key free, and is not needed for what the key has made', async () => {
      const { store } = await open();
      const key = { key: 'k', fingerprint: 'f' };
      const held = await put(store, 100);
      const file = fileRecord({ lengthBytes: 100 });
      await expect(store.put(file, 100, key)).rejects.toMatchObject(full);
      await store.delete('a', held.id, NOW);
      expect(await store.put(file, 100, { ...key, fingerprint: 'g' })).toEqual(file);
      expect(await store.put(fileRecord(), 100, { ...key, fingerprint: 'g' })).toEqual(file);
    });
  });

  describe('a key', () => {
    const key = { key: 'k', fingerprint: 'f' };
    test('gives the file of the first request to those after it', async () => {
      const { store } = await open();
      const first = fileRecord();
      expect(await store.put(first, ROOM, key)).toEqual(first);
      expect(await store.put(fileRecord({ createdAt: NOW + 5 }), ROOM, key)).toEqual(first);
      expect((await page(store)).files).toEqual([first]);
    });

    test('creates one file for concurrent requests', async () => {
      const { store } = await open();
      const made = await Promise.all(Array.from({ length: 8 }, () => store.put(fileRecord(), ROOM, key)));
      expect(new Set(made.map(({ id }) => id)).size).toBe(1);
      expect((await page(store)).files).toEqual([made[0]]);
    });

    test('with another fingerprint is refused, and nothing is stored', async () => {
      const { store } = await open();
      const first = fileRecord();
      await store.put(first, ROOM, key);
      await expect(store.put(fileRecord(), ROOM, { ...key, fingerprint: 'g' })).rejects.toMatchObject({
        kind: 'conflict',
        code: 'idempotency_conflict',
      });
      expect((await page(store)).files).toEqual([first]);
    });

    test('is of one organization', async () => {
      const { store } = await open();
      await store.put(fileRecord(), ROOM, key);
      const other = fileRecord({ organization: 'b' });
      expect(await store.put(other, ROOM, { ...key, fingerprint: 'g' })).toEqual(other);
    });

    test.each([
      ['after a day', (store: FileStore) => store.deleteIdempotencyKeys(0), IDEMPOTENCY_KEY_S],
      ['when it was swept', (store: FileStore) => store.deleteIdempotencyKeys(NOW + 1), 1],
      ['when its file was deleted', (store: FileStore, id: string) => store.delete('a', id, NOW), 1],
    ])('is free again %s', async (_, change, laterS) => {
      const { store } = await open();
      const first = fileRecord();
      await store.put(first, ROOM, key);
      await change(store, first.id);
      const second = fileRecord({ createdAt: NOW + laterS });
      const other = { ...key, fingerprint: 'g' };
      expect(await store.put(second, ROOM, other)).toEqual(second);
      expect(await store.put(fileRecord({ createdAt: NOW + laterS }), ROOM, other)).toEqual(second);
    });

    test('is forgotten by age', async () => {
      const { store } = await open();
      await store.put(fileRecord(), ROOM, key);
      await store.put(fileRecord({ createdAt: NOW + 1 }), ROOM, { ...key, key: 'later' });
      expect(await store.deleteIdempotencyKeys(NOW)).toBe(0);
      expect(await store.deleteIdempotencyKeys(NOW + 1)).toBe(1);
      expect(await store.deleteIdempotencyKeys(NOW + 2)).toBe(1);
    });
  });

  test('ids of files are recognized', async () => {
    const { store } = await open();
    const [file] = await stored(store, 1);
    if (file === undefined) throw new Error('one was stored');
    expect(await store.filterExisting([file.id, 'file-unknown'])).toEqual(new Set([file.id]));
    expect(await store.filterExisting([])).toEqual(new Set());
  });
}
