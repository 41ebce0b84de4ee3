import { readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sha256 } from '../src/kit/storage/content-hash.ts';
import {
  properReply,
  type Reply,
  type SeenRequest,
  startFaultyServer,
} from '../test/doubles/faulty-server.ts';
import { tempDir } from '../test/harness/temp-dir.ts';
import { download } from './download.ts';
import { isDiskFull } from './source-error.ts';

const file = patterned(300_000);
const expected = { bytes: file.length, sha256: sha256(file) };
const half = 150_000;

/** Bytes that differ at every offset that a wrong join could produce. */
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
  readonly answer: (request: SeenRequest, index: number, halfArrived: Promise<void>) => Reply;
  /** What an earlier run left. */
  readonly held?: Uint8Array;
  readonly signal?: AbortSignal;
  readonly stallMs?: number;
}

/** Downloads from a faulty server; gives the file, or the failure, and what the server saw. */
async function trial({ answer, held, signal, stallMs }: Trial) {
  const dir = await tempDir();
  const { promise: halfArrived, resolve: onHalf } = Promise.withResolvers<void>();
  const server = await startFaultyServer((request, index) => answer(request, index, halfArrived));
  const part = join(dir, 'file.part');
  if (held !== undefined) await writeFile(part, held);
  const retries: string[] = [];
  const failure = await download(`${server.origin}/file`, expected, part, {
    signal: signal ?? new AbortController().signal,
    onRetry: (message) => retries.push(message),
    onBytes: (done) => {
      if (done >= half) onHalf();
    },
    stallMs: stallMs ?? 5000,
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
  test('brings the whole file', async () => {
    const { failure, bytes, starts } = await trial({ answer: (request) => properReply(request, file) });
    expect(failure).toBeUndefined();
    expect(same(bytes)).toBe(true);
    expect(starts).toEqual([undefined]);
  });

  test('goes on where a cut connection stopped', async () => {
    const { failure, bytes, starts, retries } = await trial({
      answer: (request, index, cutOn) => ({
        ...properReply(request, file),
        ...(index === 0 ? { cutAfterBytes: half, cutOn } : {}),
      }),
    });
    expect(failure).toBeUndefined();
    expect(same(bytes)).toBe(true);
    expect(starts).toEqual([undefined, half]);
    expect(retries).toHaveLength(1);
  });

  test('goes on where an earlier run stopped', async () => {
    const { failure, bytes, starts } = await trial({
      answer: (request) => properReply(request, file),
      held: file.subarray(0, half),
    });
    expect(failure).toBeUndefined();
    expect(same(bytes)).toBe(true);
    expect(starts).toEqual([half]);
  });

  test('sends no request when an earlier run received everything', async () => {
    const { failure, starts } = await trial({ answer: () => ({ status: 500 }), held: file });
    expect(failure).toBeUndefined();
    expect(starts).toEqual([]);
  });

  test('starts again when the server ignores the range', async () => {
    const { failure, bytes, starts } = await trial({
      answer: (_request, index, cutOn) => ({
        body: file,
        ...(index === 0 ? { cutAfterBytes: half, cutOn } : {}),
      }),
    });
    expect(failure).toBeUndefined();
    expect(same(bytes)).toBe(true);
    expect(starts).toEqual([undefined, half]);
  });

  test.each([
    ['other bytes of the file', `bytes ${half + 1}-${file.length - 1}/${file.length}`],
    ['a file of another length', `bytes ${half}-${file.length - 1}/${file.length + 1}`],
    ['no readable range', 'whatever'],
  ])('starts again when the rest is of %s', async (_name, range) => {
    const { failure, bytes, starts } = await trial({
      answer: (request, index) =>
        index === 0
          ? { status: 206, headers: { 'content-range': range }, body: file.subarray(half) }
          : properReply(request, file),
      held: file.subarray(0, half),
    });
    expect(failure).toBeUndefined();
    expect(same(bytes)).toBe(true);
    expect(starts).toEqual([half, undefined]);
  });

  test('starts again when the server refuses the rest (416)', async () => {
    const { bytes, starts } = await trial({
      answer: (request, index) => (index === 0 ? { status: 416 } : properReply(request, file)),
      held: file.subarray(0, half),
    });
    expect(same(bytes)).toBe(true);
    expect(starts).toEqual([half, undefined]);
  });

  test('starts again when what an earlier run left is wrong', async () => {
    const { failure, bytes, starts, retries } = await trial({
      answer: (request) => properReply(request, file),
      held: new Uint8Array(half),
    });
    expect(failure).toBeUndefined();
    expect(same(bytes)).toBe(true);
    expect(starts).toEqual([half, undefined]);
    expect(retries.join()).toMatch(/do not match their sha256/);
  });

  test('starts again when an earlier run left too much', async () => {
    const { failure, bytes } = await trial({
      answer: (request) => properReply(request, file),
      held: new Uint8Array(file.length + 1),
    });
    expect(failure).toBeUndefined();
    expect(same(bytes)).toBe(true);
  });

  test('rejects wrong bytes immediately and keeps none of them', async () => {
    const wrong = Uint8Array.from(file);
    wrong[half] = (wrong[half] ?? 0) ^ 1;
    const { failure, bytes, starts } = await trial({ answer: (request) => properReply(request, wrong) });
    expect(failure).toMatchObject({
      name: 'SourceError',
      message: expect.stringMatching(/other bytes than expected/),
    });
    expect(bytes).toBeUndefined();
    expect(starts).toHaveLength(1);
  });

  test('refuses a page that says "Not found" with status 200', async () => {
    const { failure, starts } = await trial({ answer: () => ({ body: Buffer.from('Not found') }) });
    expect(failure).toMatchObject({ name: 'SourceError', message: 'it offers 9 bytes, 300000 are expected' });
    expect(starts).toHaveLength(1);
  });

  test('rejects more bytes than expected, regardless of the length header', async () => {
    const { failure, starts } = await trial({
      answer: () => ({ body: Buffer.concat([file, file]), withoutLength: true }),
    });
    expect(failure).toMatchObject({
      name: 'SourceError',
      message: 'it sent more than the expected 300000 bytes',
    });
    expect(starts).toHaveLength(1);
  });

  test.each([401, 403, 404, 410])('does not repeat a request that was refused with %i', async (status) => {
    const { failure, starts } = await trial({ answer: () => ({ status }) });
    expect(failure).toMatchObject({ name: 'SourceError', message: `it answered HTTP ${status}` });
    expect(starts).toHaveLength(1);
  });

  test('repeats after passing failures of the server', async () => {
    const { failure, bytes, starts } = await trial({
      answer: (request, index) =>
        index < 2 ? { status: index === 0 ? 500 : 429 } : properReply(request, file),
    });
    expect(failure).toBeUndefined();
    expect(same(bytes)).toBe(true);
    expect(starts).toHaveLength(3);
  });

  test('gives up after the allowed attempts', async () => {
    const { failure, starts } = await trial({ answer: () => ({ status: 503 }) });
    expect(failure).toMatchObject({ name: 'SourceError', message: 'it answered HTTP 503' });
    expect(starts).toHaveLength(3);
  });

  test('leaves a server that stalls, and goes on from there', async () => {
    const { failure, bytes, starts } = await trial({
      answer: (request, index) => ({
        ...properReply(request, file),
        ...(index === 0 ? { stallAfterBytes: half } : {}),
      }),
      stallMs: 100,
    });
    expect(failure).toBeUndefined();
    expect(same(bytes)).toBe(true);
    expect(starts[1]).toBe(half);
  });

  test('gives up a server that only stalls, and keeps what has arrived', async () => {
    const { failure, bytes } = await trial({
      answer: (request) => ({
        ...properReply(request, file),
        stallAfterBytes: request.fromByte === undefined ? half : 0,
      }),
      stallMs: 50,
    });
    expect(failure).toMatchObject({ name: 'SourceError', message: 'it sent nothing for 50 ms' });
    expect(bytes?.length).toBe(half);
  });

  test('stops with the reason of an abort', async () => {
    const stop = new AbortController();
    const stopped = new Error('stopped by the test');
    const { failure } = await trial({
      answer: () => {
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
      expect(isDiskFull(failure)).toBe(true);
      expect(server.requests).toHaveLength(1);
    },
  );
});
