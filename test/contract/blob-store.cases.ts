import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { BlobSettings } from '../../src/contract/core/settings.ts';
import type { BlobStore, ByteRange } from '../../src/contract/stores/blob-store.ts';
import { inDeepTier } from '../harness/tier.ts';

const never = new AbortController().signal;
const MIB = 1024 * 1024;

export async function* chunks(...parts: readonly (Uint8Array | string)[]) {
  for (const part of parts) yield typeof part === 'string' ? Buffer.from(part) : part;
}

/** The content of a blob; undefined if the blob does not exist. */
export async function wholeOf(
  blobs: BlobStore,
  name: string,
  range?: ByteRange,
): Promise<Buffer | undefined> {
  const bytes = await blobs.read(name, never, range);
  return bytes && Buffer.concat(await Array.fromAsync(bytes));
}

const sha256 = (bytes: Uint8Array) => new Bun.CryptoHasher('sha256').update(bytes).digest('hex');
const random = (length: number) => {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  return bytes;
};

export interface BlobStoreParts {
  readonly blobs: BlobStore;
  readonly settings: BlobSettings;
  /** Bytes in the store, including blobs that are being written. */
  heldBytes(): Promise<number>;
}

/** Contract of the blob store. `open` returns an empty store. */
export function blobStoreCases(open: () => Promise<BlobStoreParts>): void {
  const namesOf = async (blobs: BlobStore, prefix: string) => {
    const names = await Array.fromAsync(blobs.list(prefix, never), ({ name }) => name);
    return names.sort();
  };
  const write = (blobs: BlobStore, name: string, ...parts: readonly (Uint8Array | string)[]) =>
    blobs.write(name, chunks(...parts), never);

  describe('a blob', () => {
    test('is read as written; the write returns its length and hash', async () => {
      const { blobs } = await open();
      const bytes = random(100_000);
      const facts = await write(blobs, 'files/a.b_c-1', bytes.subarray(0, 7), bytes.subarray(7));
      expect(facts).toEqual({ lengthBytes: 100_000, sha256: sha256(bytes) });
      expect(await wholeOf(blobs, 'files/a.b_c-1')).toEqual(bytes);
    });

    test('can be empty, from no chunks or from empty chunks', async () => {
      const { blobs } = await open();
      for (const parts of [[], [''], ['', '']]) {
        expect(await write(blobs, 'empty', ...parts)).toEqual({
          lengthBytes: 0,
          sha256: sha256(Buffer.alloc(0)),
        });
        expect(await wholeOf(blobs, 'empty')).toEqual(Buffer.alloc(0));
      }
    });

    test('replaces a shorter or longer blob of the same name', async () => {
      const { blobs } = await open();
      for (const text of ['first', 'the second, which is longer', '3']) {
        await write(blobs, 'files/x', text);
        expect(String(await wholeOf(blobs, 'files/x'))).toBe(text);
      }
      expect(await namesOf(blobs, 'files/')).toEqual(['files/x']);
    });

    test('does not depend on the chunk boundaries', async () => {
      const { blobs } = await open();
      const bytes = random(9 * MIB + 17);
      const cuts = fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 30 });
      await fc.assert(
        fc.asyncProperty(cuts, async (at) => {
          const edges = [0, ...at.toSorted((a, b) => a - b), bytes.length];
          const parts = edges.slice(1).map((end, index) => bytes.subarray(edges[index], end));
          const facts = await write(blobs, 'files/cut', ...parts);
          expect(facts).toEqual({ lengthBytes: bytes.length, sha256: sha256(bytes) });
          const back = await wholeOf(blobs, 'files/cut');
          expect(back && sha256(back)).toBe(facts.sha256);
        }),
        { numRuns: 8 },
      );
    });

    test('is correct if the source reuses its buffer', async () => {
      const { blobs } = await open();
      const buffer = Buffer.alloc(1000);
      const reused = async function* () {
        for (let at = 0; at < 100; at += 1) yield buffer.fill(at);
      };
      await blobs.write('files/reused', reused(), never);
      const back = await wholeOf(blobs, 'files/reused');
      expect(back?.length).toBe(100_000);
      for (let at = 0; at < 100; at += 1) expect(back?.[at * 1000 + 999]).toBe(at);
    });

    const needsLittleMemory = async () => {
      const { settings } = await open();
      const program = join(import.meta.dirname, '../doubles/blob-memory.ts');
      const plainSettings =
        settings.kind === 's3' ? { ...settings, secret: settings.secretAccessKey.reveal() } : settings;
      const child = Bun.spawn([process.execPath, program, JSON.stringify(plainSettings), String(200 * MIB)]);
      const measured: { grewBytes?: number; isSame?: boolean } = JSON.parse(await child.stdout.text());
      expect(measured.isSame).toBe(true);
      expect(measured.grewBytes).toBeLessThan(96 * MIB);
    };
    inDeepTier(() => test('of 200 MB needs less than 96 MiB of memory', needsLittleMemory));
  });

  describe('a range', () => {
    test.each([
      [0, 10],
      [0, 1],
      [3, 7],
      [9, 10],
    ])('%i to %i', async (start, end) => {
      const { blobs } = await open();
      await write(blobs, 'r', '0123456789');
      expect(String(await wholeOf(blobs, 'r', { start, end }))).toBe('0123456789'.slice(start, end));
    });

    test('of a long blob starts and ends at the given bytes', async () => {
      const { blobs } = await open();
      const bytes = random(2 * MIB);
      await write(blobs, 'r', bytes);
      const range = { start: MIB - 3, end: 2 * MIB - 5 };
      const back = await wholeOf(blobs, 'r', range);
      expect(back?.equals(bytes.subarray(range.start, range.end))).toBe(true);
    });
  });

  describe('a write that fails', () => {
    const failing = async function* (error: unknown, firstBytes: number) {
      yield random(firstBytes);
      throw error;
    };
    test.each([10, 20 * MIB])(
      'after %i bytes leaves nothing and rejects with the error of the source',
      async (length) => {
        const { blobs, heldBytes } = await open();
        const error = new Error('the source broke');
        await expect(blobs.write('files/x', failing(error, length), never)).rejects.toBe(error);
        expect(await blobs.read('files/x', never)).toBeUndefined();
        expect(await namesOf(blobs, 'files/')).toEqual([]);
        expect(await heldBytes()).toBe(0);
      },
    );

    test('keeps the previous blob', async () => {
      const { blobs } = await open();
      await write(blobs, 'files/x', 'earlier');
      await expect(blobs.write('files/x', failing(new Error('broke'), 10), never)).rejects.toThrow('broke');
      expect(String(await wholeOf(blobs, 'files/x'))).toBe('earlier');
    });

    test.each([10, 20 * MIB])(
      'ends when its signal fires while the source waits after %i bytes',
      async (length) => {
        const { blobs, heldBytes } = await open();
        const controller = new AbortController();
        const reason = new Error('left');
        const silent = async function* () {
          yield random(length);
          queueMicrotask(() => controller.abort(reason));
          await new Promise(() => undefined);
        };
        await expect(blobs.write('files/x', silent(), controller.signal)).rejects.toBe(reason);
        expect(await heldBytes()).toBe(0);
        await expect(blobs.write('files/x', silent(), AbortSignal.abort(reason))).rejects.toBe(reason);
        expect(await heldBytes()).toBe(0);
      },
    );

    test('is not visible before its end', async () => {
      const { blobs } = await open();
      const results: unknown[] = [];
      const reading = async function* () {
        yield random(10 * MIB);
        results.push(await blobs.read('files/x', never), await namesOf(blobs, 'files/'));
        yield random(10);
      };
      await blobs.write('files/x', reading(), never);
      expect(results).toEqual([undefined, []]);
    });
  });

  test('concurrent writes of one name leave one of their blobs', async () => {
    const { blobs } = await open();
    const all = Array.from({ length: 6 }, (_, at) => random(100_000 + at));
    await Promise.all(all.map((bytes) => write(blobs, 'files/same', bytes)));
    const kept = await wholeOf(blobs, 'files/same');
    expect(all.some((bytes) => kept !== undefined && bytes.equals(kept))).toBe(true);
    expect(await namesOf(blobs, 'files/')).toEqual(['files/same']);
  });

  describe('reading', () => {
    test('returns undefined for an unknown name', async () => {
      const { blobs } = await open();
      await write(blobs, 'files/x', 'x');
      for (const name of ['files/y', 'files', 'files/x/y', 'x']) {
        expect(await blobs.read(name, never)).toBeUndefined();
      }
    });

    test('ends with the signal', async () => {
      const { blobs } = await open();
      await write(blobs, 'files/x', random(4 * MIB));
      const controller = new AbortController();
      const bytes = await blobs.read('files/x', controller.signal);
      await bytes?.next();
      controller.abort(new Error('left'));
      await expect(Array.fromAsync(bytes ?? [])).rejects.toThrow('left');
      await expect(blobs.read('files/x', controller.signal)).rejects.toThrow('left');
    });

    test('can stop in the middle or before its first chunk', async () => {
      const { blobs } = await open();
      await write(blobs, 'files/x', random(4 * MIB));
      for (let round = 0; round < 200; round += 1) {
        const bytes = await blobs.read('files/x', never);
        if (round % 2 === 0) await bytes?.next();
        await bytes?.return();
      }
      expect((await wholeOf(blobs, 'files/x'))?.length).toBe(4 * MIB);
    });
  });

  describe('deleting', () => {
    test('removes one blob, once', async () => {
      const { blobs } = await open();
      await write(blobs, 'files/x', 'x');
      await write(blobs, 'files/xy', 'xy');
      expect(await blobs.delete('files/x')).toBe(true);
      expect(await blobs.delete('files/x')).toBe(false);
      expect(await blobs.read('files/x', never)).toBeUndefined();
      expect(await namesOf(blobs, 'files/')).toEqual(['files/xy']);
    });

    test('removes exactly the blobs with a prefix', async () => {
      const { blobs, heldBytes } = await open();
      for (const name of ['b/1/a', 'b/1/c/d', 'b/10/a', 'b/1a', 'c/1/a']) await write(blobs, name, 'x');
      expect(await blobs.deleteAll('b/1/', never)).toBe(2);
      expect(await blobs.deleteAll('b/1/', never)).toBe(0);
      expect(await namesOf(blobs, 'b/')).toEqual(['b/10/a', 'b/1a']);
      expect(await blobs.deleteAll('b/1', never)).toBe(2);
      expect(await heldBytes()).toBe(1);
      await write(blobs, 'b/1/a', 'again');
      expect(await namesOf(blobs, 'b/')).toEqual(['b/1/a']);
    });

    test('removes more blobs than one page has', async () => {
      const { blobs, heldBytes } = await open();
      const names = Array.from({ length: 1203 }, (_, at) => `b/${at % 7}/${at}`);
      for (let at = 0; at < names.length; at += 50) {
        await Promise.all(names.slice(at, at + 50).map((name) => write(blobs, name, 'x')));
      }
      expect(await namesOf(blobs, 'b/')).toEqual(names.toSorted());
      expect(await blobs.deleteAll('b/', never)).toBe(1203);
      expect(await heldBytes()).toBe(0);
    });

    test('does not affect a concurrent write', async () => {
      const { blobs } = await open();
      for (let round = 0; round < 20; round += 1) {
        await write(blobs, 'b/1/old', 'old');
        await Promise.all([blobs.deleteAll('b/1/', never), write(blobs, `b/1/new${round}`, 'new')]);
      }
      await write(blobs, 'b/1/last', 'last');
      expect(await namesOf(blobs, 'b/1/')).toContain('b/1/last');
    });

    test('ends with the signal', async () => {
      const { blobs } = await open();
      await write(blobs, 'b/1', 'x');
      await expect(blobs.deleteAll('b/', AbortSignal.abort(new Error('left')))).rejects.toThrow('left');
      expect(await namesOf(blobs, 'b/')).toEqual(['b/1']);
    });
  });

  test('a list has the time at which a blob was written', async () => {
    const { blobs } = await open();
    // Stores use the system time.
    const nowS = Date.now() / 1000;
    await write(blobs, 'files/x', 'x');
    const [found] = await Array.fromAsync(blobs.list('files/', never));
    expect(Math.abs((found?.changedAt ?? 0) - nowS)).toBeLessThan(5);
    expect(Number.isInteger(found?.changedAt)).toBe(true);
  });

  const invalidNames = [
    ...['', '/', 'a/', '/a', 'a//b', '.', '..', '../a', 'a/../b', 'a/./b', 'a\\b', 'a\0', 'a b'],
    ...['ä', 'a~', '~unfinished/x', 'a?b', 'a%2fb', 'x'.repeat(201)],
  ];
  test.each(invalidNames.map((name) => [name.slice(0, 30), name] as const))(
    'rejects the name %j',
    async (_, name) => {
      const { blobs, heldBytes } = await open();
      await expect(write(blobs, name, 'x')).rejects.toThrow(RangeError);
      await expect(blobs.read(name, never)).rejects.toThrow(RangeError);
      await expect(blobs.delete(name)).rejects.toThrow(RangeError);
      expect(await heldBytes()).toBe(0);
    },
  );

  test('can be closed twice', async () => {
    const { blobs } = await open();
    await blobs.close();
    await blobs.close();
  });
}
