import { createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tempDir } from '../../../test/harness/temp-dir.ts';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { ServiceError } from '../../contract/core/error.ts';
import { waitForAbort } from '../../kit/async/wait-for-abort.ts';
import { workFolderPrefix } from '../../kit/process/work-folder.ts';
import { type IncomingFile, prepareUploadFolder, readForm, receiveForm, StagedFile } from './multipart.ts';
import { UPLOAD_PIECE_BYTES, UploadTurns } from './upload-turns.ts';

const URL = 'http://service.test/v1/x';
const TYPE = 'multipart/form-data; boundary=b';
const FILE_BYTES = 256 * 1024;
const never = new AbortController().signal;

type Entry = readonly [name: string, value: string | File];

function form(...entries: readonly Entry[]): Request {
  const body = new FormData();
  for (const [name, value] of entries) body.append(name, value);
  return new Request(URL, { method: 'POST', body });
}

const raw = (body: string | ReadableStream, type = TYPE) =>
  new Request(URL, { method: 'POST', body, headers: { 'content-type': type } });

const clip = (bytes: Uint8Array<ArrayBuffer>, name = 'clip.wav') => new File([bytes], name);
const filePart = (rest: string) =>
  `--b\r\ncontent-disposition: form-data; name="file"; filename="x"\r\n\r\n${rest}`;

/** A file whose writes fail with a system error code. */
const failing = (code: string) =>
  new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error(code), { code, syscall: 'write' })),
  });

/** Receives into a new folder, which must be empty after the form is rejected. */
async function errorOf(request: Request, signal = never): Promise<unknown> {
  const folder = await tempDir();
  const outcome = await receiveForm(request, { folder, fileBytes: FILE_BYTES }, signal).catch(
    (error: unknown) => error,
  );
  expect(await readdir(folder)).toEqual([]);
  return outcome;
}

describe('a form', () => {
  it('keeps its fields in memory and its files on disk until it is released', async () => {
    const folder = await tempDir();
    const bytes = crypto.getRandomValues(new Uint8Array(FILE_BYTES / 4));
    const received = await receiveForm(
      form(
        ['model', 'svc-stt'],
        ['file', clip(bytes, '../日本 ü.wav')],
        ['include[]', 'a'],
        ['include[]', 'b'],
      ),
      { folder, fileBytes: FILE_BYTES },
      never,
    );
    const { file, ...rest } = received.fields;
    expect(rest).toEqual({ model: 'svc-stt', include: ['a', 'b'] });
    expect(file).toBeInstanceOf(StagedFile);
    const { path, lengthBytes } = file as StagedFile;
    expect(path.startsWith(join(folder, 'form-'))).toBe(true);
    expect(lengthBytes).toBe(bytes.length);
    expect(Buffer.compare(await readFile(path), bytes)).toBe(0);
    await received.release();
    expect(await readdir(folder)).toEqual([]);
    await received.release();
  });

  it('is the same for every chunking', async () => {
    const folder = await tempDir();
    const tricky = '\r\n--b\r\n--bb--\r\n-';
    const body = Buffer.from(
      `${filePart(`${tricky.replaceAll('--b', '--c')}\r\n--`)}\r\n--b\r\ncontent-disposition: form-data; name="t"\r\n\r\nGrüße 你好\r\n--b--\r\n`,
    );
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 40 }), async (size) => {
        const pieces = new ReadableStream({
          start(controller) {
            for (let at = 0; at < body.length; at += size) controller.enqueue(body.subarray(at, at + size));
            controller.close();
          },
        });
        const received = await receiveForm(raw(pieces), { folder, fileBytes: FILE_BYTES }, never);
        const { file, t } = received.fields;
        expect(await readFile((file as StagedFile).path, 'utf8')).toBe('\r\n--c\r\n--cb--\r\n-\r\n--');
        expect(t).toBe('Grüße 你好');
        await received.release();
      }),
      { numRuns: 40 },
    );
    expect(await readdir(folder)).toEqual([]);
  });

  it('accepts list fields with and without brackets', async () => {
    const lists = new Set(['a', 'b', 'c']);
    const settings = { folder: await tempDir(), fileBytes: 1, lists };
    const entries: Entry[] = [
      ['a', '1'],
      ['a[]', '2'],
      ['a', '3'],
      ['b', '4'],
      ['d[c]', '5'],
    ];
    const received = await receiveForm(form(...entries), settings, never);
    expect(received.fields).toEqual({ a: ['1', '2', '3'], b: ['4'], d: { c: '5' } });
    await received.release();
  });

  it('can be empty, and can contain an empty file', async () => {
    const folder = await tempDir();
    const nothing = await receiveForm(raw('--b--\r\n'), { folder, fileBytes: 1 }, never);
    expect(Object.keys(nothing.fields)).toEqual([]);
    const empty = await receiveForm(form(['file', clip(new Uint8Array(0))]), { folder, fileBytes: 1 }, never);
    expect(empty.fields.file).toMatchObject({ lengthBytes: 0 });
    await Promise.all([nothing.release(), empty.release()]);
  });

  it('accepts a file of exactly the max. size', async () => {
    const folder = await tempDir();
    const settings = { folder, fileBytes: FILE_BYTES };
    const received = await receiveForm(form(['file', clip(new Uint8Array(FILE_BYTES))]), settings, never);
    expect(received.fields.file).toMatchObject({ lengthBytes: FILE_BYTES });
    await received.release();
  });
});

describe('rejects, without leaving files behind,', () => {
  it.each([
    ['JSON', 'application/json', '{"model":"x"}'],
    ['no type', '', 'x'],
    ['a urlencoded form', 'application/x-www-form-urlencoded', 'a=b'],
  ])('%s', async (_, type, body) => {
    expect(await errorOf(raw(body, type))).toMatchObject({ kind: 'unsupported_media_type' });
  });

  it('a compressed form', async () => {
    const headers = { 'content-type': TYPE, 'content-encoding': 'gzip' };
    const body = Bun.gzipSync(filePart('RIFF\r\n--b--\r\n'));
    expect(await errorOf(new Request(URL, { method: 'POST', body, headers }))).toMatchObject({
      kind: 'unsupported_media_type',
      param: 'Content-Encoding',
      message: expect.stringContaining("'identity'"),
    });
  });

  it.each([
    ['no boundary', 'multipart/form-data', 'x'],
    ['another boundary', TYPE, '--c\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--c--\r\n'],
    ['text', TYPE, 'hello'],
    ['nothing', TYPE, ''],
    ['a truncated field', TYPE, '--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n1'],
    ['a truncated file', TYPE, filePart('RIFF')],
    ['a truncated part header', TYPE, '--b\r\ncontent-disposition: form-da'],
    ['a missing last boundary', TYPE, filePart('RIFF\r\n--b\r\n')],
  ])('a malformed form: %s', async (_, type, body) => {
    expect(await errorOf(raw(body, type))).toMatchObject({
      kind: 'invalid_request',
      message: 'The request body is not a valid multipart form.',
    });
  });

  it.each([
    ['a field', ['a', '1'], ['a', '2'], 'a'],
    ['a file', ['file', clip(new Uint8Array(9))], ['file', clip(new Uint8Array(9))], 'file'],
    ['a file and a field', ['file', clip(new Uint8Array(9))], ['file', 'text'], 'file'],
  ] as [string, Entry, Entry, string][])('duplicate names: %s', async (_, first, second, param) => {
    expect(await errorOf(form(first, second))).toMatchObject({ kind: 'invalid_request', param });
  });

  it('a file that is one byte too long, and stops reading there', async () => {
    let pulls = 0;
    const head = Buffer.from(filePart(''));
    const endless = new ReadableStream({
      pull(controller) {
        pulls += 1;
        controller.enqueue(pulls === 1 ? head : new Uint8Array(FILE_BYTES / 4));
      },
    });
    expect(await errorOf(raw(endless))).toMatchObject({
      kind: 'payload_too_large',
      param: 'file',
      message: `'file' must be a file of at most ${FILE_BYTES} bytes.`,
    });
    expect(pulls).toBeLessThan(20);
    const over = form(['file', clip(new Uint8Array(FILE_BYTES + 1))]);
    expect(await errorOf(over)).toMatchObject({ kind: 'payload_too_large' });
  });

  it('a body whose other parts are too long', async () => {
    const files = Array.from({ length: 8 }, (_, at): Entry => [`f${at}`, clip(new Uint8Array(FILE_BYTES))]);
    expect(await errorOf(form(...files))).toMatchObject({ kind: 'payload_too_large', param: undefined });
  });

  it.each([
    ['a field that is too long', [['prompt', 'x'.repeat(131_073)]], 'prompt'],
    ['too many fields', Array.from({ length: 1002 }, (_, at) => [`f${at}`, '']), undefined],
    ['too many files', Array.from({ length: 17 }, (_, at) => [`f${at}`, clip(new Uint8Array(1))]), undefined],
    ['a name that is nested too deep', [[`a${'[b]'.repeat(50)}`, '']], expect.stringContaining('a[b]')],
  ] as [string, Entry[], unknown][])('%s', async (_, entries, param) => {
    const error = await errorOf(form(...entries));
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({ kind: 'invalid_request', param });
  });

  it('too many parts without a name', async () => {
    const parts = raw(`${'--b\r\n\r\n\r\n'.repeat(2000)}--b--\r\n`);
    expect(await errorOf(parts)).toMatchObject({ message: 'Too many form fields.' });
  });

  it('a request whose client disconnects', async () => {
    const controller = new AbortController();
    const reason = new Error('hung up');
    const body = new ReadableStream({
      pull(stream) {
        stream.enqueue(Buffer.from(filePart('RIFF')));
        controller.abort(reason);
        return new Promise(() => undefined);
      },
    });
    expect(await errorOf(raw(body), controller.signal)).toBe(reason);
  });

  it('a request whose client disconnects in the middle of a file', async () => {
    const controller = new AbortController();
    const reason = new Error('hung up');
    const folder = await tempDir();
    const begun = Promise.withResolvers<void>();
    const body = new ReadableStream({
      start: (stream) => stream.enqueue(Buffer.from(filePart('RIFF'))),
    });
    const create = (path: string) => {
      const file = createWriteStream(path);
      file.once('open', () => begun.resolve());
      return file;
    };
    const received = receiveForm(
      raw(body),
      { folder, fileBytes: FILE_BYTES, create },
      controller.signal,
    ).catch((error: unknown) => error);
    await begun.promise;
    controller.abort(reason);
    expect(await received).toBe(reason);
    expect(await readdir(folder)).toEqual([]);
  });

  it.each([
    // Every write to this device fails with ENOSPC (full(4)).
    ['ENOSPC', () => createWriteStream('/dev/full')],
    ['EDQUOT', () => failing('EDQUOT')],
  ])('a file that does not fit on the disk: %s', async (code, create) => {
    const folder = await tempDir();
    const over = form(['file', clip(new Uint8Array(FILE_BYTES))], ['model', 'm']);
    const received = receiveForm(over, { folder, fileBytes: FILE_BYTES, create }, never);
    await expect(received).rejects.toMatchObject({
      kind: 'overloaded',
      code: 'server_overloaded',
      retryAfterS: 30,
      message: 'Server storage is full. Retry later.',
      cause: { code },
    });
    expect(await readdir(folder)).toEqual([]);
  });

  it('other write errors as internal errors', async () => {
    const settings = { folder: await tempDir(), fileBytes: 9, create: () => failing('EIO') };
    const received = receiveForm(form(['file', clip(new Uint8Array(9))]), settings, never);
    await expect(received).rejects.toMatchObject({ code: 'EIO' });
  });

  it('an unwritable folder as an internal error', async () => {
    const settings = { folder: join(await tempDir(), 'missing'), fileBytes: 9 };
    const received = receiveForm(form(['file', clip(new Uint8Array(9))]), settings, never);
    await expect(received).rejects.not.toBeInstanceOf(ServiceError);
  });
});

it('prepareUploadFolder creates the folder and removes abandoned form folders', async () => {
  const clock = new ManualClock();
  const folder = join(await tempDir(), 'deep', 'uploads');
  await prepareUploadFolder(folder, clock);
  const own = workFolderPrefix('form');
  const [, formFolder = ''] = own.split('-');
  // The process id was reused by another process.
  const killed = workFolderPrefix('form', { hostId: formFolder, pid: process.pid, instance: 'aaaa' });
  for (const [name, ageS] of [
    ['form-old', 7 * 3600],
    ['form-new', 60],
    [`${own}b`, 60],
    [`${killed}c`, 60],
  ] as const) {
    await mkdir(join(folder, name));
    await writeFile(join(folder, name, '0'), 'RIFF');
    const seconds = clock.now() / 1000 - ageS;
    await utimes(join(folder, name), seconds, seconds);
  }
  expect(await prepareUploadFolder(folder, clock)).toBe(2);
  expect((await readdir(folder)).toSorted()).toEqual([`${own}b`, 'form-new'].toSorted());
});

describe('readForm', () => {
  const settings = (
    receiveFile: (file: IncomingFile, signal: AbortSignal) => Promise<{ length: number }>,
  ) => ({
    fileBytes: FILE_BYTES,
    receiveFile,
  });
  const counted = async ({ bytes }: IncomingFile) => {
    let length = 0;
    for await (const chunk of bytes) length += chunk.length;
    return { length };
  };

  it('stores the result of receiveFile as the value of the field, and passes the file name of the client', async () => {
    const names: unknown[] = [];
    const fields = await readForm(
      form(
        ['file', clip(new Uint8Array(1000), '../a/ü.jsonl')],
        ['purpose', 'batch'],
        ['more', clip(new Uint8Array(9))],
      ),
      settings((file) => {
        names.push([file.name, file.filename]);
        return counted(file);
      }),
      never,
    );
    expect({ ...fields }).toEqual({ file: { length: 1000 }, purpose: 'batch', more: { length: 9 } });
    expect(names).toEqual([
      ['file', 'ü.jsonl'],
      ['more', 'clip.wav'],
    ]);
  });

  it('passes the fields that precede the file', async () => {
    const forwarded: unknown[] = [];
    const sent = form(['model', 'm'], ['file', clip(new Uint8Array(9))], ['purpose', 'batch']);
    await readForm(
      sent,
      settings((file) => {
        forwarded.push({ ...file.precedingFields });
        return counted(file);
      }),
      never,
    );
    expect(forwarded).toEqual([{ model: 'm' }]);
  });

  it('decodes only the three characters that forms percent-encode in file names', async () => {
    const names: unknown[] = [];
    const head = (name: string) => `--b\r\ncontent-disposition: form-data; name="${name}"; filename="a`;
    await readForm(
      raw(`${head('x')}%22%0D%0A%20%2f%25%0a%5C%"\r\n\r\n1\r\n${head('y')}%2522"\r\n\r\n1\r\n--b--\r\n`),
      settings((file) => {
        names.push(file.filename);
        return counted(file);
      }),
      never,
    );
    expect(names).toEqual(['a"\r\n%20%2f%25%0a%5C%', 'a%2522']);
  });

  it('applies backpressure', async () => {
    const goOn = Promise.withResolvers<void>();
    let sent = 0;
    const body = new ReadableStream(
      {
        pull(controller) {
          sent += 1;
          if (sent === 1) controller.enqueue(Buffer.from(filePart('')));
          else if (sent <= 20) controller.enqueue(new Uint8Array(FILE_BYTES / 20));
          else {
            controller.enqueue(Buffer.from('\r\n--b--\r\n'));
            controller.close();
          }
        },
      },
      { highWaterMark: 0 },
    );
    const reading = readForm(
      raw(body),
      settings(async (file) => {
        await goOn.promise;
        return counted(file);
      }),
      never,
    );
    // All buffers are full when many turns of the event loop read nothing.
    for (let idleTurns = 0; idleTurns < 50; idleTurns += 1) {
      const before = sent;
      await new Promise((resolve) => setTimeout(resolve, 1));
      if (before !== sent) idleTurns = 0;
    }
    expect(sent).toBeLessThan(20);
    goOn.resolve();
    expect((await reading).file).toEqual({ length: Math.floor(FILE_BYTES / 20) * 19 });
  });

  it('waits for a turn after each MiB', async () => {
    const pauses: (() => void)[] = [];
    const turns = new UploadTurns(() => new Promise((end) => pauses.push(end)));
    const file = clip(new Uint8Array(3 * UPLOAD_PIECE_BYTES));
    const receiveFile = async ({ bytes }: IncomingFile) => {
      for await (const _ of bytes);
      return {};
    };
    const received = readForm(form(['file', file]), { fileBytes: file.size, turns, receiveFile }, never);
    for (let at = 0; at < 3; at += 1) {
      await expect.poll(() => pauses.length).toBe(at + 1);
      pauses[at]?.();
    }
    await received;
    expect(pauses).toHaveLength(3);
  });

  it('stops reading when receiveFile rejects the file', async () => {
    const errorOf = new ServiceError('invalid_request', 'No.');
    let pulls = 0;
    const endless = new ReadableStream({
      pull(controller) {
        pulls += 1;
        controller.enqueue(pulls === 1 ? Buffer.from(filePart('')) : new Uint8Array(1000));
      },
    });
    const reading = readForm(
      raw(endless),
      settings(async () => {
        throw errorOf;
      }),
      never,
    );
    await expect(reading).rejects.toBe(errorOf);
    expect(pulls).toBeLessThan(200);
  });

  it.each([
    ['too long', raw(`${filePart('x'.repeat(FILE_BYTES + 1))}\r\n--b--\r\n`), 'payload_too_large'],
    ['truncated', raw(filePart('x'.repeat(1000))), 'invalid_request'],
  ])('does not end the stream of a file normally if it is %s', async (_, request, kind) => {
    let isWhole = false;
    const reading = readForm(
      request,
      settings(async (file) => {
        const length = await counted(file);
        isWhole = true;
        return length;
      }),
      never,
    );
    await expect(reading).rejects.toMatchObject({ kind });
    expect(isWhole).toBe(false);
  });

  it('aborts receiveFile when another part of the form is rejected', async () => {
    const letGo = Promise.withResolvers<unknown>();
    const reading = readForm(
      form(['a', clip(new Uint8Array(10))], ['b', '1'], ['b', '2']),
      settings(async ({ bytes }, signal) => {
        try {
          for await (const _ of bytes);
          await waitForAbort(signal);
          throw signal.reason;
        } catch (error) {
          letGo.resolve(error);
          throw error;
        }
      }),
      never,
    );
    await expect(reading).rejects.toMatchObject({ param: 'b' });
    expect(await letGo.promise).toMatchObject({ param: 'b' });
  });
});
