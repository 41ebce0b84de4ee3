import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/contract/core/error.ts';
import { toDiskError } from '../../../src/kit/storage/disk-errors.ts';
import { withMethods } from '../../../test/doubles/with-methods.ts';
import { type Entry, FILE_BYTES, FILES, fileApp, formOf, lines } from '../../../test/harness/file-app.ts';
import type { WireAnswer } from '../../../test/harness/response-app.ts';
import { KEY_B } from '../../../test/harness/test-app.ts';

const PURPOSE: Entry = ['purpose', 'batch'];
const TEXT = '{"custom_id":"1"}\n{"custom_id":"2"}\n';
const sha256 = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest('hex');

describe('an upload', () => {
  it('returns the file object', async () => {
    const { upload, clock, send, storedBlobs } = await fileApp();
    const response = await upload([PURPOSE, ['file', lines(TEXT)]]);
    expect(response.status).toBe(200);
    const file = await response.json();
    expect(file).toEqual({
      id: expect.stringMatching(/^file-[0-9a-f]{32}$/),
      object: 'file',
      bytes: TEXT.length,
      created_at: Math.floor(clock.now() / 1000),
      expires_at: null,
      filename: 'lines.jsonl',
      purpose: 'batch',
      status: 'processed',
      status_details: null,
    });
    expect(await (await send(`${FILES}/${file.id}`)).json()).toEqual(file);
    expect(await storedBlobs()).toHaveLength(1);
  });

  it.each([
    ['the file first', [['file', lines(TEXT)], PURPOSE]],
    ['the file last', [PURPOSE, ['file', lines(TEXT)]]],
  ] as [string, Entry[]][])('accepts its fields in any order: %s', async (_, entries) => {
    const { upload } = await fileApp();
    expect((await upload(entries)).status).toBe(200);
  });

  it('accepts an empty file and a file of exactly the maximum size', async () => {
    const { add, send } = await fileApp();
    for (const text of ['', 'x'.repeat(FILE_BYTES)]) {
      const { id, bytes } = await add(text);
      expect(bytes).toBe(text.length);
      expect(await (await send(`${FILES}/${id}/content`)).text()).toBe(text);
    }
  });

  it('expires after the requested time', async () => {
    const { upload, clock, send } = await fileApp();
    const response = await upload([
      ['file', lines(TEXT)],
      PURPOSE,
      ['expires_after[anchor]', 'created_at'],
      ['expires_after[seconds]', '3600'],
    ]);
    const file = await response.json();
    expect(file.expires_at).toBe(file.created_at + 3600);
    clock.advance(3_599_000);
    expect((await send(`${FILES}/${file.id}`)).status).toBe(200);
    clock.advance(1000);
    for (const path of ['', '/content']) expect((await send(`${FILES}/${file.id}${path}`)).status).toBe(404);
    expect((await (await send(FILES)).json()).data).toEqual([]);
    expect((await send(`${FILES}/${file.id}`, { method: 'DELETE' })).status).toBe(404);
  });

  it.each([
    ['../../etc/passwd', 'passwd'],
    ['Grüße 你好.jsonl', 'Grüße 你好.jsonl'],
    ['x'.repeat(300), 'x'.repeat(255)],
    ['the "5%" and %2F, %41.jsonl', 'the "5%" and %2F, %41.jsonl'],
    ['two\r\nlines.jsonl', 'two__lines.jsonl'],
  ])('stores the file name %s', async (name, kept) => {
    const { add } = await fileApp();
    expect(await add(TEXT, name)).toMatchObject({ filename: kept });
  });
});

describe('a rejected upload leaves no data behind', () => {
  const file: Entry = ['file', lines(TEXT)];
  const anchor: Entry = ['expires_after[anchor]', 'created_at'];
  const seconds = (value: string): Entry => ['expires_after[seconds]', value];
  it.each([
    ['no file', [PURPOSE], 'file', 'missing_required_parameter'],
    ['a string as file', [PURPOSE, ['file', 'text']], 'file', 'invalid_type'],
    ['two files', [PURPOSE, file, file], 'file', 'invalid_value'],
    ['no purpose', [file], 'purpose', 'missing_required_parameter'],
    ['another purpose', [file, ['purpose', 'fine-tune']], 'purpose', 'unsupported_value'],
    ['the purpose of results', [file, ['purpose', 'batch_output']], 'purpose', 'unsupported_value'],
    ['two purposes', [PURPOSE, file, PURPOSE], 'purpose', 'invalid_value'],
    ['a file as purpose', [file, ['purpose', lines('batch')]], 'purpose', 'invalid_type'],
    ['a file in another field', [PURPOSE, file, ['data', lines()]], 'data', 'invalid_type'],
    [
      'a misspelt field',
      [PURPOSE, file, ['expire_after[seconds]', '1']],
      'expire_after',
      'unknown_parameter',
    ],
    ['an anchor alone', [PURPOSE, file, anchor], 'expires_after.seconds', 'missing_required_parameter'],
    ['seconds alone', [PURPOSE, file, seconds('3600')], 'expires_after.anchor', 'missing_required_parameter'],
    ['too few seconds', [PURPOSE, file, anchor, seconds('3599')], 'expires_after.seconds', 'invalid_value'],
    [
      'too many seconds',
      [PURPOSE, file, anchor, seconds('2592001')],
      'expires_after.seconds',
      'invalid_value',
    ],
    [
      'seconds that are not an integer',
      [PURPOSE, file, anchor, seconds('1e4')],
      'expires_after.seconds',
      'invalid_type',
    ],
    [
      'another anchor',
      [PURPOSE, file, seconds('3600'), ['expires_after[anchor]', 'x']],
      'expires_after.anchor',
      'invalid_value',
    ],
    ['a flat expiry', [PURPOSE, file, ['expires_after', '3600']], 'expires_after', 'invalid_type'],
  ] as [string, Entry[], string, string][])('%s', async (_, entries, param, code) => {
    const { upload, send, storedBlobs } = await fileApp();
    const response = await upload(entries);
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { param, code, type: 'invalid_request_error', message: expect.stringContaining(param) } },
    ]);
    expect(await storedBlobs()).toEqual([]);
    expect((await (await send(FILES)).json()).data).toEqual([]);
  });

  it('lists the allowed purposes in the error', async () => {
    const { upload } = await fileApp();
    const response = await upload([file, ['purpose', 'x']]);
    expect((await response.json()).error.message).toContain('"batch"');
  });

  it('rejects a file that is too large, with any announced length', async () => {
    const { upload, storedBlobs } = await fileApp();
    const response = await upload([PURPOSE, ['file', lines('x'.repeat(FILE_BYTES + 1))]]);
    expect([response.status, await response.json()]).toMatchObject([
      413,
      {
        error: {
          param: 'file',
          code: 'payload_too_large',
          message: expect.stringContaining(`${FILE_BYTES}`),
        },
      },
    ]);
    expect(await storedBlobs()).toEqual([]);
  });

  it('rejects a request that announces too many bytes', async () => {
    const { send, storedBlobs } = await fileApp();
    const body = formOf(PURPOSE, ['file', lines(TEXT)]);
    const headers = {
      'content-type': 'multipart/form-data; boundary=b',
      'content-length': String(FILE_BYTES + 1024 * 1024 + 1),
    };
    const response = await send(FILES, { method: 'POST', body, headers });
    expect([response.status, (await response.json()).error.code]).toEqual([413, 'payload_too_large']);
    expect(await storedBlobs()).toEqual([]);
  });

  it.each([
    ['JSON', 'application/json', '{}', 415],
    ['a truncated form', 'multipart/form-data; boundary=b', 'x', 400],
  ])('%s', async (_, type, body, status) => {
    const { send, storedBlobs } = await fileApp();
    const response = await send(FILES, { method: 'POST', body, headers: { 'content-type': type } });
    expect(response.status).toBe(status);
    expect((await response.json()).error).toMatchObject({ type: 'invalid_request_error' });
    expect(await storedBlobs()).toEqual([]);
  });

  it('rejects compressed bytes', async () => {
    const { upload, storedBlobs } = await fileApp();
    const response = await upload([PURPOSE, ['file', lines(TEXT)]], { 'content-encoding': 'gzip' });
    expect([response.status, response.headers.get('accept-encoding')]).toEqual([415, 'identity']);
    expect((await response.json()).error.param).toBe('Content-Encoding');
    expect(await storedBlobs()).toEqual([]);
  });

  it('deletes the bytes when the client disconnects', async () => {
    const { app, storedBlobs, files } = await fileApp();
    const left = new AbortController();
    const began = Promise.withResolvers<void>();
    const head = '--b\r\ncontent-disposition: form-data; name="file"; filename="x"\r\n\r\n';
    let pulls = 0;
    const body = new ReadableStream({
      pull(controller) {
        pulls += 1;
        if (pulls < 4) return controller.enqueue(Buffer.from(pulls === 1 ? head : 'x'.repeat(70_000)));
        began.resolve();
        return new Promise(() => undefined);
      },
    });
    const pendingResponse = app.send(FILES, {
      method: 'POST',
      body,
      headers: { 'x-api-key': 'key-of-a', 'content-type': 'multipart/form-data; boundary=b' },
      signal: left.signal,
    });
    await began.promise;
    await expect.poll(storedBlobs).toHaveLength(1);
    left.abort();
    await pendingResponse;
    expect(await storedBlobs()).toEqual([]);
    // The upload slot is free again.
    await files.uploads.drain(AbortSignal.timeout(1000));
  });

  it('returns 503 when the disk is full', async () => {
    const full = Object.assign(new Error('ENOSPC'), { code: 'ENOSPC', syscall: 'write' });
    const { upload, storedBlobs } = await fileApp({
      blobs: (real) => withMethods(real, { write: () => Promise.reject(toDiskError(full)) }),
    });
    const response = await upload([PURPOSE, file]);
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '30']);
    expect(await response.json()).toMatchObject({ error: { code: 'server_overloaded' } });
    expect(await storedBlobs()).toEqual([]);
  });

  it('rejects an upload above the limit of the organization', async () => {
    const { send, upload, files } = await fileApp({ perOrganization: 1 });
    const open = files.upload(
      { organization: 'a', keyId: 'k', requestId: 'req_1' },
      new AbortController().signal,
    );
    expect((await upload([PURPOSE, file])).status).toBe(429);
    expect((await upload([PURPOSE, file], {}, KEY_B)).status).toBe(200);
    await open.release();
    expect((await upload([PURPOSE, file])).status).toBe(200);
    expect((await send(FILES)).status).toBe(200);
  });

  it('aborts open uploads when the service stops', async () => {
    const { app, files, storedBlobs } = await fileApp();
    const began = Promise.withResolvers<void>();
    const body = new ReadableStream({
      start: (controller) =>
        controller.enqueue(
          Buffer.from(
            `--b\r\ncontent-disposition: form-data; name="file"; filename="x"\r\n\r\n${'x'.repeat(99_999)}`,
          ),
        ),
      pull() {
        began.resolve();
        return new Promise(() => undefined);
      },
    });
    const headers = { 'x-api-key': 'key-of-a', 'content-type': 'multipart/form-data; boundary=b' };
    const pendingResponse = app.send(FILES, { method: 'POST', body, headers });
    await began.promise;
    const until = new AbortController();
    const drained = files.uploads.drain(until.signal);
    until.abort();
    await drained;
    expect((await pendingResponse).status).toBe(503);
    expect(await storedBlobs()).toEqual([]);
  });
});

describe('an idempotency key', () => {
  const key = { 'idempotency-key': 'k' };
  it('returns the same file again and stores its bytes once', async () => {
    const { upload, storedBlobs, send } = await fileApp();
    const entries: Entry[] = [PURPOSE, ['file', lines(TEXT)]];
    const first = await (await upload(entries, key)).json();
    expect(await (await upload(entries, key)).json()).toEqual(first);
    expect(await storedBlobs()).toHaveLength(1);
    expect((await (await send(FILES)).json()).data).toEqual([first]);
    expect(await (await send(`${FILES}/${first.id}/content`)).text()).toBe(TEXT);
  });

  it.each([
    ['another content', [PURPOSE, ['file', lines(`${TEXT} `)]]],
    ['another file name', [PURPOSE, ['file', lines(TEXT, 'other.jsonl')]]],
  ] as [string, Entry[]][])('is rejected for %s, without retries', async (_, entries) => {
    const { upload, storedBlobs } = await fileApp();
    await upload([PURPOSE, ['file', lines(TEXT)]], key);
    const response = await upload(entries, key);
    expect([response.status, response.headers.get('x-should-retry')]).toEqual([409, 'false']);
    expect(await response.json()).toMatchObject({ error: { code: 'idempotency_conflict' } });
    expect(await storedBlobs()).toHaveLength(1);
  });

  it('is independent per organization', async () => {
    const { upload } = await fileApp();
    const entries: Entry[] = [PURPOSE, ['file', lines(TEXT)]];
    const first = await (await upload(entries, key)).json();
    const other = await (await upload(entries, key, KEY_B)).json();
    expect(other.id).not.toBe(first.id);
  });

  it('has 1 to 255 characters', async () => {
    const { upload, storedBlobs } = await fileApp();
    const response = await upload([PURPOSE, ['file', lines()]], { 'idempotency-key': 'k'.repeat(256) });
    expect([response.status, (await response.json()).error.param]).toEqual([400, 'Idempotency-Key']);
    expect(await storedBlobs()).toEqual([]);
  });
});

describe('an organization that has used up its storage quota', () => {
  const full = { type: 'invalid_request_error', param: 'file', code: 'storage_limit_exceeded' };
  const entries: Entry[] = [PURPOSE, ['file', lines(TEXT)]];

  it('receives an error, no data stays behind, and other organizations can upload', async () => {
    const { upload, storedBlobs, send, add } = await fileApp({ storedBytes: TEXT.length + 5 });
    const { id } = await add(TEXT);
    const response = await upload(entries);
    expect([response.status, await response.json()]).toMatchObject([400, { error: full }]);
    expect(await storedBlobs()).toHaveLength(1);
    expect((await upload(entries, {}, KEY_B)).status).toBe(200);
    await send(`${FILES}/${id}`, { method: 'DELETE' });
    expect((await upload(entries)).status).toBe(200);
  });

  it('receives the error before it sends the file', async () => {
    let written = 0;
    const { upload } = await fileApp({
      storedBytes: TEXT.length,
      blobs: (real) =>
        withMethods(real, {
          write: (...args) => {
            written += 1;
            return real.write(...args);
          },
        }),
    });
    await upload(entries);
    expect((await (await upload(entries)).json()).error).toMatchObject(full);
    expect(written).toBe(1);
  });

  it('receives the file of an earlier request with the same key', async () => {
    const { upload } = await fileApp({ storedBytes: TEXT.length });
    const key = { 'idempotency-key': 'k' };
    const first = await (await upload(entries, key)).json();
    expect(await (await upload(entries, key)).json()).toEqual(first);
  });
});

describe('bytes that may belong to a record', () => {
  it('are kept when the outcome of storing the record is unknown', async () => {
    const { upload, store, storedBlobs, log } = await fileApp();
    const put = store.put.bind(store);
    store.put = async (...args) => {
      await put(...args);
      throw new Error('the connection broke after COMMIT');
    };
    expect((await upload([PURPOSE, ['file', lines(TEXT)]])).status).toBe(500);
    expect(await storedBlobs()).toHaveLength(1);
    expect(log.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

// biome-ignore lint/correctness/useYield: it fails before its first byte.
async function* failing(error: Error): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  throw error;
}

describe('the list', () => {
  const idsOf = async (response: WireAnswer) => {
    const { data, first_id, last_id, has_more, object } = await response.json();
    expect(object).toBe('list');
    expect([first_id, last_id]).toEqual([data[0]?.id ?? null, data.at(-1)?.id ?? null]);
    return [data.map(({ filename }: { filename: string }) => filename), has_more];
  };
  it('is paged in both orders, per organization', async () => {
    const { add, send } = await fileApp();
    const files = [];
    for (const name of ['1', '2', '3']) files.push(await add(TEXT, name));
    await add(TEXT, 'foreign', KEY_B);
    expect(await idsOf(await send(FILES))).toEqual([['3', '2', '1'], false]);
    expect(await idsOf(await send(`${FILES}?limit=2`))).toEqual([['3', '2'], true]);
    expect(await idsOf(await send(`${FILES}?limit=2&after=${files[1].id}`))).toEqual([['1'], false]);
    expect(await idsOf(await send(`${FILES}?order=asc&limit=2&purpose=batch`))).toEqual([['1', '2'], true]);
    expect(await idsOf(await send(`${FILES}?purpose=batch_output`))).toEqual([[], false]);
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=10001', 'limit'],
    ['limit=x', 'limit'],
    ['order=up', 'order'],
    ['purpose=fine-tune', 'purpose'],
    ['after=file-unknown', 'after'],
  ])('rejects %s', async (query, param) => {
    const { send } = await fileApp();
    const response = await send(`${FILES}?${query}`);
    expect([response.status, (await response.json()).error.param]).toEqual([400, param]);
  });

  it('rejects `after` with a file of another organization', async () => {
    const { add, send } = await fileApp();
    const { id } = await add(TEXT, 'foreign', KEY_B);
    expect((await send(`${FILES}?after=${id}`)).status).toBe(400);
  });
});

describe('the content', () => {
  const digits = '0123456789';
  it('is returned completely, with download headers', async () => {
    const { add, send } = await fileApp();
    const { id } = await add(digits, 'a\\b (ü).jsonl');
    const response = await send(`${FILES}/${id}/content`);
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': '10',
      'accept-ranges': 'bytes',
      'content-disposition': `attachment; filename="b (_).jsonl"; filename*=UTF-8''b%20%28%C3%BC%29.jsonl`,
      etag: `"${sha256(digits)}"`,
    });
    expect(response.headers.has('content-range')).toBe(false);
    expect(await response.text()).toBe(digits);
  });

  it('is downloaded under the original file name, encoded once', async () => {
    const { add, send } = await fileApp();
    const { id } = await add(digits, '5% "of" %20.jsonl');
    expect((await send(`${FILES}/${id}/content`)).headers.get('content-disposition')).toBe(
      `attachment; filename="5_ _of_ _20.jsonl"; filename*=UTF-8''5%25%20%22of%22%20%2520.jsonl`,
    );
  });

  it.each([
    ['bytes=0-3', '0123', 'bytes 0-3/10'],
    ['bytes=7-', '789', 'bytes 7-9/10'],
    ['bytes=-2', '89', 'bytes 8-9/10'],
    ['bytes=5-99', '56789', 'bytes 5-9/10'],
  ])('supports the range %s', async (range, text, shown) => {
    const { add, send } = await fileApp();
    const { id } = await add(digits);
    const response = await send(`${FILES}/${id}/content`, { headers: { range } });
    expect([response.status, response.headers.get('content-range')]).toEqual([206, shown]);
    expect(response.headers.get('content-length')).toBe(String(text.length));
    expect(await response.text()).toBe(text);
  });

  it.each(['bytes=0-1,3-4', 'lines=1-2', 'bytes=x'])('ignores the range %s', async (range) => {
    const { add, send } = await fileApp();
    const { id } = await add(digits);
    const response = await send(`${FILES}/${id}/content`, { headers: { range } });
    expect([response.status, await response.text()]).toEqual([200, digits]);
  });

  it.each([
    ['bytes=10-', digits],
    ['bytes=-0', digits],
    ['bytes=99999999999999999999-', digits],
    ['bytes=0-', ''],
  ])('rejects the range %s', async (range, text) => {
    const { add, send } = await fileApp();
    const { id } = await add(text);
    const response = await send(`${FILES}/${id}/content`, { headers: { range } });
    expect([response.status, response.headers.get('content-range')]).toEqual([416, `bytes */${text.length}`]);
    expect(await response.json()).toMatchObject({
      error: { param: 'Range', type: 'invalid_request_error', code: null },
    });
  });

  it('ignores a range whose If-Range does not match', async () => {
    const { add, send } = await fileApp();
    const { id } = await add(digits);
    const statusOf = async (tag: string) => {
      const headers = { range: 'bytes=0-1', 'if-range': tag };
      return (await send(`${FILES}/${id}/content`, { headers })).status;
    };
    expect([await statusOf('"other"'), await statusOf(`"${sha256(digits)}"`)]).toEqual([200, 206]);
  });

  it('returns 304 for a matching etag, also with a range', async () => {
    const { add, send } = await fileApp();
    const { id } = await add(digits);
    const tag = `"${sha256(digits)}"`;
    for (const method of ['GET', 'HEAD']) {
      for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
        const headers = { 'if-none-match': known, range: 'bytes=10-' };
        const response = await send(`${FILES}/${id}/content`, { method, headers });
        expect([response.status, response.headers.get('etag'), await response.text()]).toEqual([
          304,
          tag,
          '',
        ]);
      }
      const other = await send(`${FILES}/${id}/content`, { method, headers: { 'if-none-match': '"other"' } });
      expect([other.status, await other.text()]).toEqual([200, method === 'GET' ? digits : '']);
      const missing = await send(`${FILES}/file-x/content`, { method, headers: { 'if-none-match': '*' } });
      expect(missing.status).toBe(404);
    }
  });

  it('returns only the headers for HEAD', async () => {
    const { add, send } = await fileApp();
    const { id } = await add(digits);
    const whole = await send(`${FILES}/${id}/content`, { method: 'HEAD' });
    expect([whole.status, whole.headers.get('content-length'), await whole.text()]).toEqual([200, '10', '']);
    const part = await send(`${FILES}/${id}/content`, { method: 'HEAD', headers: { range: 'bytes=2-4' } });
    expect([part.status, part.headers.get('content-length'), await part.text()]).toEqual([206, '3', '']);
    expect((await send(`${FILES}/file-x/content`, { method: 'HEAD' })).status).toBe(404);
  });

  it.each([10, 2_000_000])('of %i bytes returns 503 when the store is unavailable', async (length) => {
    const away = new ServiceError('overloaded', 'Away.', { retryAfterS: 5 });
    const { add, send } = await fileApp({
      fileBytes: 4_000_000,
      blobs: (real) => withMethods(real, { read: async () => failing(away) }),
    });
    const { id } = await add('x'.repeat(length));
    const response = await send(`${FILES}/${id}/content`);
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
  });

  it('returns 500 when the bytes are lost, and 404 when the file was deleted in the meantime', async () => {
    const { add, send, blobs, store } = await fileApp();
    const lost = await add(digits);
    await blobs.delete(`files/${lost.id}`);
    expect((await send(`${FILES}/${lost.id}/content`)).status).toBe(500);
    const deleted = await add(digits);
    const { read } = blobs;
    blobs.read = async (...args) => {
      await store.delete('a', deleted.id, 0);
      await blobs.delete(`files/${deleted.id}`);
      return read.apply(blobs, args);
    };
    expect((await send(`${FILES}/${deleted.id}/content`)).status).toBe(404);
  });
});

describe('deleting', () => {
  it('deletes the record and the bytes', async () => {
    const { add, send, storedBlobs } = await fileApp();
    const { id } = await add();
    const response = await send(`${FILES}/${id}`, { method: 'DELETE' });
    expect([response.status, await response.json()]).toEqual([200, { id, object: 'file', deleted: true }]);
    expect(await storedBlobs()).toEqual([]);
    for (const path of ['', '/content']) expect((await send(`${FILES}/${id}${path}`)).status).toBe(404);
    expect((await send(`${FILES}/${id}`, { method: 'DELETE' })).status).toBe(404);
  });

  it('is rejected while a batch reads the file, without retries', async () => {
    const { add, send, records, storedBlobs } = await fileApp();
    const { id } = await add();
    await records.db
      .insertInto('batches')
      .values({
        id: 'batch_1',
        organization: 'a',
        key_id: 'k',
        endpoint: '/v1/embeddings',
        input_file: id,
        status: 'validating',
        created_at: 0,
        expires_at: 0,
        faults: '[]',
        lines_ahead: '[]',
        line: 1,
        total: 0,
        completed: 0,
        failed: 0,
        input_tokens: 0,
        output_tokens: 0,
        offset_bytes: 0,
      })
      .execute();
    const response = await send(`${FILES}/${id}`, { method: 'DELETE' });
    expect([response.status, response.headers.get('x-should-retry')]).toEqual([409, 'false']);
    expect(await response.json()).toMatchObject({ error: { param: 'id', code: 'file_in_use' } });
    expect(await storedBlobs()).toHaveLength(1);
  });

  it('succeeds when the bytes cannot be deleted, which the cleanup does later', async () => {
    const { add, send, blobs, log } = await fileApp();
    const { id } = await add();
    blobs.delete = () => Promise.reject(new Error('blob store unavailable'));
    expect((await send(`${FILES}/${id}`, { method: 'DELETE' })).status).toBe(200);
    expect((await send(`${FILES}/${id}`)).status).toBe(404);
    expect(log.lines.some(({ level }) => level === 'error')).toBe(true);
  });
});

it('returns 404 for files of other organizations', async () => {
  const { add, send } = await fileApp();
  const { id } = await add(TEXT, 'x', KEY_B);
  for (const [method, path] of [
    ['GET', ''],
    ['GET', '/content'],
    ['HEAD', '/content'],
    ['DELETE', ''],
  ]) {
    const response = await send(`${FILES}/${id}${path}`, { method: method ?? '' });
    expect(response.status).toBe(404);
    if (method === 'HEAD') continue;
    expect(await response.json()).toEqual({
      error: {
        message: `No such File object: ${id}`,
        type: 'invalid_request_error',
        param: 'id',
        code: null,
      },
    });
  }
});

it('ignores query parameters and fields of other servers', async () => {
  const { add, upload, send } = await fileApp();
  const { id } = await add(TEXT);
  for (const path of ['', `/${id}`, `/${id}/content`]) {
    const response = await send(`${FILES}${path}?api-version=2026-01-01&x=1&x=2`);
    expect([path, response.status]).toEqual([path, 200]);
  }
  const others: Entry[] = [
    ...([
      ['user', 'u'],
      ['metadata[a]', 'b'],
      ['custom_llm_provider', 'openai'],
    ] as Entry[]),
    ...([
      ['target_model_names', 'a,b'],
      ['expires_after[more]', '1'],
      ['expires_after[seconds]', '3600'],
    ] as Entry[]),
  ];
  const response = await upload([
    PURPOSE,
    ...others,
    ['expires_after[anchor]', 'created_at'],
    ['file', lines(TEXT)],
  ]);
  const file = await response.json();
  expect([response.status, file.expires_at - file.created_at]).toEqual([200, 3600]);
});

it.each([
  ['/v1/files', 'post', [200, 400, 401, 409, 413, 415, 429, 503]],
  ['/v1/files', 'get', [200, 400, 401, 429, 503]],
  ['/v1/files/{id}', 'get', [200, 400, 401, 404, 429, 503]],
  ['/v1/files/{id}', 'delete', [200, 400, 401, 404, 409, 429, 503]],
  ['/v1/files/{id}/content', 'get', [200, 206, 304, 400, 401, 404, 416, 429, 503]],
])('the OpenAPI document lists every response of %s %s', async (path, method, statuses) => {
  const { send } = await fileApp();
  const { paths } = await (await send('/swagger/json')).json();
  expect(Object.keys(paths[path][method].responses).map(Number)).toEqual(statuses);
});

it('does not log file names, content or idempotency keys', async () => {
  const { app, log, upload } = await fileApp();
  await upload([PURPOSE, ['file', lines('secret text', 'secret name')]], { 'idempotency-key': 'secret key' });
  await upload([
    ['purpose', 'secret'],
    ['file', lines('secret text', 'secret name')],
  ]);
  expect(JSON.stringify([...app.log.lines, ...log.lines])).not.toContain('secret');
});
