/** Files over real sockets: OpenAI's unmodified client, and raw clients that disconnect or send incomplete requests. */

import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import OpenAI, { toFile } from 'openai';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FILES, fileServer } from '../../test/harness/file-app.ts';
import { tempDir } from '../../test/harness/temp-dir.ts';
import { KEY_A } from '../../test/harness/test-app.ts';

const MIB = 1024 * 1024;
const LINE = '{"custom_id":"1","body":{"model":"m"}}\n';

async function clientOf(fileBytes = MIB) {
  const server = await fileServer({ fileBytes });
  let requestCount = 0;
  const client = new OpenAI({
    apiKey: KEY_A,
    baseURL: `${server.origin}/v1`,
    async fetch(...args) {
      requestCount += 1;
      return fetch(...args);
    },
  });
  return { ...server, client, requestCount: () => requestCount };
}

/** Path of a new file with the given number of lines. */
async function linesOnDisk(count: number): Promise<string> {
  const path = join(await tempDir(), 'lines of mine.jsonl');
  await writeFile(path, LINE.repeat(count));
  return path;
}

describe('OpenAI’s client', () => {
  it('uploads from memory, with the file before the purpose', async () => {
    const { client } = await clientOf();
    const file = await client.files.create({
      file: await toFile(Buffer.from(LINE), 'lines.jsonl'),
      purpose: 'batch',
      expires_after: { anchor: 'created_at', seconds: 3600 },
    });
    expect(file).toMatchObject({
      object: 'file',
      bytes: LINE.length,
      filename: 'lines.jsonl',
      status: 'processed',
    });
    expect(file.expires_at).toBe(file.created_at + 3600);
  });

  it('uploads a stream of unknown length and downloads it', async () => {
    const { client } = await clientOf(8 * MIB);
    const path = await linesOnDisk(100_000);
    const file = await client.files.create({ file: createReadStream(path), purpose: 'batch' });
    expect(file).toMatchObject({ bytes: 100_000 * LINE.length, filename: 'lines of mine.jsonl' });
    const content = await client.files.content(file.id);
    expect(await content.text()).toBe(LINE.repeat(100_000));
  });

  it('waits for processing, retrieves and deletes a file', async () => {
    const { client } = await clientOf();
    const { id } = await client.files.create({
      file: await toFile(Buffer.from(LINE), 'a'),
      purpose: 'batch',
    });
    expect(await client.files.waitForProcessing(id, { pollInterval: 1, maxWait: 1000 })).toMatchObject({
      id,
    });
    expect(await client.files.retrieve(id)).toMatchObject({ id });
    expect(await client.files.delete(id)).toEqual({ id, object: 'file', deleted: true });
    await expect(client.files.retrieve(id)).rejects.toMatchObject({ status: 404, param: 'id' });
  });

  it('pages through all files', async () => {
    const { client, add } = await clientOf();
    const ids: string[] = [];
    for (let at = 0; at < 7; at += 1) ids.push((await add(LINE, String(at))).id);
    const idsOf = async (query: OpenAI.FileListParams) =>
      Array.fromAsync(client.files.list(query), ({ id }) => id);
    expect(await idsOf({ limit: 2 })).toEqual(ids.toReversed());
    expect(await idsOf({ limit: 3, order: 'asc', purpose: 'batch' })).toEqual(ids);
  });

  it('does not retry errors that are not retryable', async () => {
    const { client, requestCount, records } = await clientOf();
    const { id } = await client.files.create({
      file: await toFile(Buffer.from(LINE), 'a'),
      purpose: 'batch',
    });
    await records.db
      .insertInto('batches')
      .values({
        id: 'batch_1',
        organization: 'a',
        key_id: 'k',
        endpoint: '/v1/embeddings',
        input_file: id as 'file-',
        status: 'in_progress',
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
    const before = requestCount();
    await expect(client.files.delete(id)).rejects.toMatchObject({ status: 409, code: 'file_in_use' });
    expect(requestCount() - before).toBe(1);
  });

  it('receives an error for a file that is too large', async () => {
    const { client, storedBlobs } = await clientOf(1000);
    const file = await toFile(Buffer.alloc(1001, 'x'), 'a');
    await expect(client.files.create({ file, purpose: 'batch' })).rejects.toMatchObject({
      status: 413,
      code: 'payload_too_large',
    });
    expect(await storedBlobs()).toEqual([]);
  });
});

describe('a socket', () => {
  const head = (path: string, ...more: string[]) =>
    [`${path} HTTP/1.1`, 'host: service.test', `x-api-key: ${KEY_A}`, ...more, '', ''].join('\r\n');

  it('receives the length of a file but no bytes for HEAD', async () => {
    const { origin, add } = await clientOf();
    const { id } = await add(LINE);
    const response = await rawResponse(origin, head(`HEAD ${FILES}/${id}/content`, 'connection: close'));
    expect(response).toMatch(/^HTTP\/1\.1 200 /);
    expect(response).toMatch(new RegExp(`\r\ncontent-length: ${LINE.length}\r\n`, 'i'));
    expect(response.endsWith('\r\n\r\n')).toBe(true);
  });

  it.each([LINE.length, MIB])('receives content of %i bytes completely, with its length', async (length) => {
    const { origin, add } = await clientOf(8 * MIB);
    const { id } = await add('x'.repeat(length));
    const response = await rawResponse(origin, head(`GET ${FILES}/${id}/content`, 'connection: close'));
    const [headers = '', body = ''] = response.split('\r\n\r\n');
    expect(headers).toMatch(new RegExp(`\r\ncontent-length: ${length}(\r\n|$)`, 'i'));
    expect(body).toBe('x'.repeat(length));
  });

  it('that reads slowly receives long content completely', async () => {
    const { origin, add } = await clientOf(32 * MIB);
    const { id, bytes } = await add(`${'0123456789'.repeat(2_500_000)}.`);
    const response = await fetch(`${origin}${FILES}/${id}/content`, {
      headers: { 'x-api-key': KEY_A, range: 'bytes=10-' },
    });
    expect([response.status, response.headers.get('content-range')]).toEqual([
      206,
      `bytes 10-${bytes - 1}/${bytes}`,
    ]);
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString('latin1');
      if (text.length < MIB) await Bun.sleep(1);
    }
    expect(text).toBe(`${'0123456789'.repeat(2_499_999)}.`);
  });

  it('that closes during an upload leaves no data behind', async () => {
    const { origin, storedBlobs, files } = await clientOf(64 * MIB);
    const { hostname, port } = new URL(origin);
    const sending = request({
      hostname,
      port,
      path: FILES,
      method: 'POST',
      headers: { 'x-api-key': KEY_A, 'content-type': 'multipart/form-data; boundary=b' },
    });
    sending.on('error', () => undefined);
    sending.write('--b\r\ncontent-disposition: form-data; name="file"; filename="x"\r\n\r\n');
    sending.write('x'.repeat(MIB));
    await until(async () => (await storedBlobs()).length === 1);
    sending.destroy();
    await until(async () => (await storedBlobs()).length === 0);
    await files.uploads.drain(AbortSignal.timeout(1000));
  });

  it('that announces a body above the limit receives the error immediately', async () => {
    const { origin, storedBlobs } = await clientOf(MIB);
    const length = 300 * MIB;
    const response = await rawResponse(
      origin,
      head(`POST ${FILES}`, 'content-type: multipart/form-data; boundary=b', `content-length: ${length}`),
    );
    expect(response).toMatch(/^HTTP\/1\.1 413 /);
    expect(response).toContain('"code":"payload_too_large"');
    expect(await storedBlobs()).toEqual([]);
  });
});

/** Everything that a server sends until it closes the connection or its response is complete. */
async function rawResponse(origin: string, request: string): Promise<string> {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  socket.write(request);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) {
    chunks.push(chunk as Buffer);
    if (String(chunk).endsWith('}}')) break;
  }
  return Buffer.concat(chunks).toString('latin1');
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await Bun.sleep(5);
}
