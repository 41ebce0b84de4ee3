import { readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  properReply,
  type Reply,
  type SeenRequest,
  startFaultyServer,
} from '../../test/doubles/faulty-server.ts';
import { tempDir } from '../../test/harness/temp-dir.ts';
import { sha256 } from '../kit/storage/content-hash.ts';
import { isStorageFull } from '../kit/storage/disk-errors.ts';
import { download } from './download.ts';

const file = patterned(300_000);
const expected = { bytes: file.length, sha256: sha256(file) };
const half = 150_000;

/** Test data in which every wrong join is detectable. */
function patterned(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let state = 1;
  for (let i = 0; i < length; i++) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    bytes[i] = state >> 16;
  }
  return bytes;
}

interface Trial {
  /** `halfArrived` resolves when the client has written half of the file. */
  readonly reply: (request: SeenRequest, index: number, halfArrived: Promise<void>) => Reply;
  /** Partial file of an earlier run. */
  readonly partial?: Uint8Array;
  readonly signal?: AbortSignal;
  readonly stallTimeoutMs?: number;
}

/** Downloads from a faulty server. Returns the file or the error, and the requests that the server received. */
async function trial({ reply, partial, signal, stallTimeoutMs }: Trial) {
  const dir = await tempDir();
  const { promise: halfArrived, resolve: onHalf } = Promise.withResolvers<void>();
  const server = await startFaultyServer((request, index) => reply(request, index, halfArrived));
  const part = join(dir, 'file.part');
  if (partial !== undefined) await writeFile(part, partial);
  const retries: string[] = [];
  const failure = await download(`${server.origin}/file`, expected, part, {
    signal: signal ?? new AbortController().signal,
    onRetry: (message) => retries.push(message),
    onBytes: (done) => {
      if (done >= half) onHalf();
    },
    stallTimeoutMs: stallTimeoutMs ?? 5000,
    attempts: 3,
    backoffMs: 1,
  }).then(
    () => undefined,
    (error: unknown) => error,
  );
  const bytes = await readFile(part).catch(() => undefined);
  return { failure, bytes, retries, starts: server.requests.map((request) => request.fromByte) };
}

function same(bytes: Uint8Array | undefined): boolean {
  return bytes !== undefined && Buffer.compare(bytes, file) === 0;
}

describe('download', () => {
  test('downloads the complete file', async () => {
    const { failure, bytes, starts } = await trial({ reply: (request) => properReply(request, file) });
    expect(failure).toBeUndefined();
    expect(same(bytes)).toBe(true);
    expect(starts).toEqual([undefined]);
  });

  test('resumes after a closed connection', async () => {
    const { failure, bytes, starts, retries } = await trial({
      reply: (request, index, cutOn) => ({
        ...properReply(request, file),
        ...(index === 0 ? { cutAfterBytes: half, cutOn } : {}),
      }),
    });
    expect(failure).toBeUndefined();
    expect(same(bytes)).toBe(true);
    expect(starts).toEqual([undefined, half]);
    expect(retries).toHaveLength(1);
  });

  test('resumes the partial file of an earlier run', async () => {
    const { failure, bytes, starts } = await trial({
      reply: (request) => properReply(request, file),
      partial: file.subarray(0, half),
    });
    expect(failure).toBeUndefined();
    expect(same(bytes)).toBe(true);
    expect(starts).toEqual([half]);
  });

  test('sends no request when an earlier run received everything', async () => {
    const { failure, starts } = await trial({ reply: () => ({ status: 500 }), partial: file });
    expect(failure).toBeUndefined();
    expect(starts).toEqual([]);
  });

  test('restarts if the server ignores the range', async () => {
    const { failure, bytes, starts } = await trial({
      reply: (_request, index, cutOn) => ({
        body: file,
        ...(index === 0 ? { cutAfterBytes: half, cutOn } : {}),
      }),
    });
    expect(failure).toBeUndefined();
    expect(same(bytes)).toBe(true);
    expect(starts).toEqual([undefined, half]);
  });

  test.each([
    ['the range of other bytes', `bytes ${half + 1}-${file.length - 1}/${file.length}`],
    ['the range of another file length', `bytes ${half}-${file.length - 1}/${file.length + 1}`],
    ['an invalid range', 'invalid'],
  ])('restarts if the response has %s', async (_name, range) => {
    const { failure, bytes, starts } = await trial({
      reply: (request, index) =>
        index === 0
          ? { status: 206, headers: { 'content-range': range }, body: file.subarray(half) }
          : properReply(request, file),
      partial: file.subarray(0, half),
    });
    expect(failure).toBeUndefined();
    expect(same(bytes)).toBe(true);
    expect(starts).toEqual([half, undefined]);
  });

  test('restarts if the server rejects the range (416)', async () => {
    const { bytes, starts } = await trial({
      reply: (request, index) => (index === 0 ? { status: 416 } : properReply(request, file)),
      partial: file.subarray(0, half),
    });
    expect(same(bytes)).toBe(true);
    expect(starts).toEqual([half, undefined]);
  });

  test('restarts if the partial file of an earlier run is corrupt', async () => {
    const { failure, bytes, starts, retries } = await trial({
      reply: (request) => properReply(request, file),
      partial: new Uint8Array(half),
    });
    expect(failure).toBeUndefined();
    expect(same(bytes)).toBe(true);
    expect(starts).toEqual([half, undefined]);
    expect(retries.join()).toMatch(/checksum mismatch after a resumed download/);
  });

  test('restarts if the partial file of an earlier run is too long', async () => {
    const { failure, bytes } = await trial({
      reply: (request) => properReply(request, file),
      partial: new Uint8Array(file.length + 1),
    });
    expect(failure).toBeUndefined();
    expect(same(bytes)).toBe(true);
  });

  test('rejects wrong bytes immediately and keeps none of them', async () => {
    const wrong = Uint8Array.from(file);
    wrong[half] = (wrong[half] ?? 0) ^ 1;
    const { failure, bytes, starts } = await trial({ reply: (request) => properReply(request, wrong) });
    expect(failure).toMatchObject({
      name: 'SourceError',
      message: expect.stringMatching(/checksum mismatch/),
    });
    expect(bytes).toBeUndefined();
    expect(starts).toHaveLength(1);
  });

  test('rejects a "Not found" page with status 200', async () => {
    const { failure, starts } = await trial({ reply: () => ({ body: Buffer.from('Not found') }) });
    expect(failure).toMatchObject({
      name: 'SourceError',
      message: 'content length is 9 bytes, expected 300000',
    });
    expect(starts).toHaveLength(1);
  });

  test('rejects more bytes than expected, regardless of the length header', async () => {
    const { failure, starts } = await trial({
      reply: () => ({ body: Buffer.concat([file, file]), withoutLength: true }),
    });
    expect(failure).toMatchObject({
      name: 'SourceError',
      message: 'the response exceeds the expected 300000 bytes',
    });
    expect(starts).toHaveLength(1);
  });

  test.each([401, 403, 404, 410])('does not retry a request with status %i', async (status) => {
    const { failure, starts } = await trial({ reply: () => ({ status }) });
    expect(failure).toMatchObject({ name: 'SourceError', message: `HTTP status ${status}` });
    expect(starts).toHaveLength(1);
  });

  test('retries after transient errors of the server', async () => {
    const { failure, bytes, starts } = await trial({
      reply: (request, index) =>
        index < 2 ? { status: index === 0 ? 500 : 429 } : properReply(request, file),
    });
    expect(failure).toBeUndefined();
    expect(same(bytes)).toBe(true);
    expect(starts).toHaveLength(3);
  });

  test('fails after the max. number of attempts', async () => {
    const { failure, starts } = await trial({ reply: () => ({ status: 503 }) });
    expect(failure).toMatchObject({ name: 'SourceError', message: 'HTTP status 503' });
    expect(starts).toHaveLength(3);
  });

  test('resumes after a stalled response', async () => {
    const { failure, bytes, starts } = await trial({
      reply: (request, index) => ({
        ...properReply(request, file),
        ...(index === 0 ? { stallAfterBytes: half } : {}),
      }),
      stallTimeoutMs: 1000,
    });
    expect(failure).toBeUndefined();
    expect(same(bytes)).toBe(true);
    expect(starts[1]).toBe(half);
  });

  test('fails if every response stalls, and keeps the received bytes', async () => {
    const { failure, bytes } = await trial({
      reply: (request) => ({
        ...properReply(request, file),
        stallAfterBytes: request.fromByte === undefined ? half : 0,
      }),
      stallTimeoutMs: 500,
    });
    expect(failure).toMatchObject({ name: 'SourceError', message: 'no data for 500 ms' });
    expect(bytes?.length).toBe(half);
  });

  test('rejects with the reason of an abort', async () => {
    const stop = new AbortController();
    const stopped = new Error('stopped by the test');
    const { failure } = await trial({
      reply: () => {
        stop.abort(stopped);
        return { body: file, stallAfterBytes: half };
      },
      signal: stop.signal,
    });
    expect(failure).toBe(stopped);
  });

  test('reports a refused connection', async () => {
    const dir = await tempDir();
    const part = join(dir, 'file.part');
    const options = { signal: new AbortController().signal, attempts: 1, backoffMs: 1 };
    await expect(download('http://127.0.0.1:1/file', expected, part, options)).rejects.toThrow(/connect/i);
    await expect(stat(part)).rejects.toThrow();
  });

  test.skipIf(process.platform !== 'linux')(
    'passes a full disk on as such (/dev/full is of Linux)',
    async () => {
      const dir = await tempDir();
      const server = await startFaultyServer((request) => properReply(request, file));
      const part = join(dir, 'file.part');
      await symlink('/dev/full', part);
      const failure = await download(`${server.origin}/file`, expected, part, {
        signal: new AbortController().signal,
      }).catch((error: unknown) => error);
      expect(isStorageFull(failure)).toBe(true);
      expect(server.requests).toHaveLength(1);
    },
  );
});
