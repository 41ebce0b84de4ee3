import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  type LaunchedService,
  launchService,
  NO_MODELS,
  OTHER_KEY,
  SERVICE_KEY,
} from '../../tools/harness/services/launcher.ts';

/**
 * Attacks over raw sockets against the real process: authentication bypass, request smuggling, header injection and
 * resource exhaustion. Malformed HTTP is tested in bad-requests.test.ts.
 */

let service: LaunchedService;
beforeAll(async () => {
  service = await launchService({ config: `${NO_MODELS}\n[http]\ninvalid_keys_per_minute = 3` });
});
afterAll(() => service?.stop());

function dial(): Socket {
  const socket = connect(Number(new URL(service.baseUrl).port), '127.0.0.1');
  socket.on('error', () => undefined);
  onTestFinished(() => {
    socket.destroy();
  });
  return socket;
}

/** Sends bytes. Returns everything that the service sends until it closes the connection. */
async function exchange(...pieces: readonly (string | Uint8Array)[]): Promise<string> {
  const socket = dial();
  for (const fragments of pieces) socket.write(fragments);
  let response = '';
  for await (const chunk of socket) response += (chunk as Buffer).toString('latin1');
  return response;
}

const statuses = (response: string) =>
  [...response.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, code]) => Number(code));
const CLOSE = 'host: test\r\nconnection: close\r\n';
const KEYED = `host: test\r\nx-api-key: ${SERVICE_KEY}\r\n`;
const isUp = async () => (await service.fetch('/healthz')).status === 200;

describe('without a key', () => {
  /** Public responses do not match this. */
  const PRIVATE = /"object":"(list|model|file)"/;

  test.each([
    '/healthz/../v1/models',
    '/healthz/%2e%2e/v1/models',
    '/v1/models/..\\..\\healthz',
    '/v1/models/x\\..\\..\\..\\healthz',
    '/v1/files/%2e%2e/%2e%2e/healthz',
    '/v1/models/%2e%2e%5c%2e%2e%5chealthz',
    '/v1/files/..%2f..%2fhealthz',
    '//v1/models',
    '/./v1/models',
    '/v1/models/.',
    '/v1/models/%2e',
    '/v1/models;/healthz',
    '/v1/models#/healthz',
    '/v1/models?x=/healthz',
    '/healthz#/../v1/models',
    '/healthz;/../v1/models',
    '/HEALTHZ/../v1/models',
    '/v1/%6dodels',
    '/v1%2fmodels',
    '/v1\\models',
    '/\\v1/models',
    '/console/../v1/models',
    '/console/%2e%2e/v1/models',
    '/console/..%2f..%2fpackage.json',
    '/console/%2e%2e/package.json',
    '/docs/%2e%2e/%2e%2e/etc/passwd',
    '/docs/..%2f..%2fpackage.json',
    '/swagger/../v1/models',
    '/swagger/json/../../v1/models',
    '/metrics/../v1/models',
    'http://other/v1/models',
  ])('%s is rejected', async (path) => {
    const response = await exchange(`GET ${path} HTTP/1.1\r\n${CLOSE}\r\n`);
    expect(response).not.toMatch(PRIVATE);
    expect(response).not.toMatch(/root:|"dependencies"/);
    // The normalized path may be the public health check.
    if (statuses(response)[0] === 200) expect(response).toContain('{"status":"ok"}');
    else expect([400, 401, 404, 405, 505]).toContain(statuses(response)[0]);
  });

  test.each([
    't/healthz?',
    't/healthz#',
    't/healthz',
    't?/healthz',
    't\\healthz',
    'u:p@t',
    't/../',
    '%2f',
    't:99999',
  ])('the host %j does not bypass the key check', async (host) => {
    const response = await exchange(`GET /v1/models HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
    expect(statuses(response)).toEqual([400]);
  });

  test.each(['TRACE', 'CONNECT', 'PRI', 'PROPFIND', 'PATCH'])(
    '%s does not echo the request',
    async (method) => {
      for (const path of ['/healthz', '/v1/models']) {
        const response = await exchange(
          `${method} ${path} HTTP/1.1\r\n${CLOSE}x-private: mine\r\ncookie: mine\r\n\r\n`,
        );
        expect(response).not.toContain('mine');
        expect(statuses(response)[0] ?? 400).toBeGreaterThanOrEqual(400);
      }
    },
  );

  test('method overrides are ignored', async () => {
    const override = 'x-http-method-override: DELETE\r\nx-method-override: DELETE\r\n';
    const response = await exchange(
      `GET /v1/models?_method=DELETE HTTP/1.1\r\n${KEYED}connection: close\r\n${override}\r\n`,
    );
    expect(statuses(response)).toEqual([200]);
  });
});

describe('request smuggling', () => {
  const HIDDEN = `GET /v1/credits HTTP/1.1\r\n${KEYED}connection: close\r\n\r\n`;
  const post = (framing: string, body: string) =>
    `POST /v1/embeddings HTTP/1.1\r\n${KEYED}content-type: application/json\r\n${framing}\r\n\r\n${body}`;

  test.each([
    ['two lengths', post('content-length: 2\r\ncontent-length: 4', `{}  ${HIDDEN}`)],
    ['a list of lengths', post('content-length: 2, 2', `{}${HIDDEN}`)],
    ['a signed length', post('content-length: +2', `{}${HIDDEN}`)],
    ['a hexadecimal length', post('content-length: 0x2', `{}${HIDDEN}`)],
    ['a length, then chunks', post('content-length: 4\r\ntransfer-encoding: chunked', `0\r\n\r\n${HIDDEN}`)],
    ['chunks, then a length', post('transfer-encoding: chunked\r\ncontent-length: 4', `0\r\n\r\n${HIDDEN}`)],
    ['a space before the colon', post('transfer-encoding : chunked', `0\r\n\r\n${HIDDEN}`)],
    ['an unknown coding', post('transfer-encoding: xchunked', `0\r\n\r\n${HIDDEN}`)],
    [
      'chunked as a coding that is not the last',
      post('transfer-encoding: chunked, identity', `0\r\n\r\n${HIDDEN}`),
    ],
    ['two codings', post('transfer-encoding: chunked\r\ntransfer-encoding: identity', `0\r\n\r\n${HIDDEN}`)],
    ['a vertical tab', post('transfer-encoding: \x0bchunked\r\ncontent-length: 2', `{}${HIDDEN}`)],
    ['a chunk too long for a number', post('transfer-encoding: chunked', `FFFFFFFFFFFFFFFFF\r\n{}${HIDDEN}`)],
    ['a chunk of a negative length', post('transfer-encoding: chunked', `-1\r\n{}\r\n0\r\n\r\n${HIDDEN}`)],
    ['a chunk longer than its length', post('transfer-encoding: chunked', `2\r\n{}XX0\r\n\r\n${HIDDEN}`)],
    ['lines that end in LF', post('transfer-encoding: chunked', `2\n{}\n0\n\n${HIDDEN}`)],
    [
      'a folded header',
      `GET /v1/models HTTP/1.1\r\nhost: test\r\nx-api-key: no\r\n ${SERVICE_KEY}\r\n\r\n${HIDDEN}`,
    ],
  ])('by %s is rejected with 400', async (_, bytes) => {
    expect(statuses(await exchange(bytes))).toEqual([400]);
  });

  test('by an unread body is not possible', async () => {
    for (const request of [
      `POST /v1/embeddings HTTP/1.1\r\nhost: test\r\nconnection: close\r\ncontent-length: ${HIDDEN.length}\r\n\r\n`,
      `POST /v1/embeddings HTTP/1.1\r\n${KEYED}connection: close\r\ncontent-length: 99999999\r\n\r\n`,
      `GET /v1/models HTTP/1.1\r\n${KEYED}connection: close\r\ncontent-length: ${HIDDEN.length}\r\n\r\n`,
    ]) {
      expect(statuses(await exchange(request, HIDDEN))).toHaveLength(1);
    }
  });

  test('a key in a trailer is ignored', async () => {
    const request = `POST /v1/embeddings HTTP/1.1\r\n${CLOSE}transfer-encoding: chunked\r\n\r\n`;
    const response = await exchange(request, `2\r\n{}\r\n0\r\nx-api-key: ${SERVICE_KEY}\r\n\r\n`);
    expect(statuses(response)[0]).toBe(401);
  });
});

describe('header injection', () => {
  test.each([
    'a%0d%0aset-cookie:%20x=1',
    'a%0aset-cookie:%20x=1',
    '%E2%80%AE',
    '%F0%9F%98%80',
    '..%00',
    '%ff',
  ])('by the id %s is not possible', async (id) => {
    for (const path of [
      `/v1/files/${id}`,
      `/v1/files/${id}/content`,
      `/v1/audio/voices/${id}`,
      `/v1/models/${id}`,
    ]) {
      const response = await exchange(`GET ${path} HTTP/1.1\r\n${KEYED}connection: close\r\n\r\n`);
      expect([400, 404]).toContain(statuses(response)[0]);
      expect(response.split('\r\n\r\n')[0]).not.toMatch(/set-cookie/i);
    }
  });

  test.each([
    ['a%0D%0Aset-cookie: x=1', /filename="a__set-cookie: x=1"/],
    ['a%22; filename=%22b', /filename="a_; filename=_b"/],
    ['a\\"b.jsonl', /filename="/],
    ['../../etc/passwd', /filename="passwd"/],
    ['\u202Egpj.exe', /filename="_gpj.exe"; filename\*=UTF-8''%E2%80%AEgpj.exe/],
  ])('by the file name %s is not possible, and it has no path', async (name, expected) => {
    const body = Buffer.from(
      `--b\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n` +
        `--b\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\n\r\n{}\r\n--b--\r\n`,
    );
    const headers = { 'x-api-key': SERVICE_KEY, 'content-type': 'multipart/form-data; boundary=b' };
    const stored = await service.fetch('/v1/files', { method: 'POST', headers, body });
    expect(stored.status).toBe(200);
    const { id } = (await stored.json()) as { id: string };
    const response = await exchange(
      `GET /v1/files/${id}/content HTTP/1.1\r\n${KEYED}connection: close\r\n\r\n`,
    );
    const [head = ''] = response.split('\r\n\r\n');
    expect(head).not.toMatch(/^set-cookie/im);
    expect(head.match(/^content-disposition: .*$/im)?.[0]).toMatch(expected);
  });
});

describe('names of object prototypes', () => {
  const NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'];
  const bodies = NAMES.flatMap((name) => [
    `{"${name}":{"model":"svc-tts","polluted":1}}`,
    `{"model":"${name}","input":"x"}`,
    `{"model":"svc-tts","input":"x","voice":{"${name}":1}}`,
    `{"model":"smollm2-135m-instruct","input":"x","metadata":{"${name}":"1"},"tools":[{"type":"function","name":"${name}","parameters":{"type":"object","properties":{"${name}":{"$ref":"#/${name}"}}}}]}`,
  ]);

  test.each([
    '/v1/audio/speech',
    '/v1/embeddings',
    '/v1/chat/completions',
    '/v1/responses',
    '/v1/batches',
    '/v1/videos/extensions',
  ])('have no effect in a body of %s', async (path) => {
    for (const body of bodies) {
      const response = await service.fetch(path, {
        method: 'POST',
        headers: { 'x-api-key': SERVICE_KEY, 'content-type': 'application/json' },
        body,
      });
      const text = await response.text();
      // 502: the upstream server of a model is unavailable.
      expect([400, 404, 502, 503], `${body} ${text}`).toContain(response.status);
    }
  });

  test('have no effect in a form, query or path', async () => {
    for (const name of NAMES) {
      const form = new FormData();
      form.set(`${name}[${name}]`, 'x');
      form.set('model', name);
      const headers = { 'x-api-key': SERVICE_KEY };
      for (const response of [
        await service.fetch('/v1/audio/speech', { method: 'POST', headers, body: form }),
        await service.fetch(`/v1/models/${name}`, { headers }),
        await service.fetch(`/v1/usage?endpoint=${name}&after=${name}`, { headers }),
      ]) {
        expect([400, 404]).toContain(response.status);
      }
      // Unknown parameters are ignored.
      expect((await service.fetch(`/v1/usage?${name}=1`, { headers })).status).toBe(200);
    }
  });
});

describe('resource exhaustion', () => {
  const post = (path: string, type: string, body: string) =>
    service.fetch(path, {
      method: 'POST',
      headers: { 'x-api-key': SERVICE_KEY, 'content-type': type },
      body,
    });

  test.each([
    ['a million parts', '--b\r\n\r\n\r\n'.repeat(700_000)],
    ['many named parts', '--b\r\ncontent-disposition: form-data; name="a[]"\r\n\r\n\r\n'.repeat(100_000)],
    ['a part of many header lines', `--b\r\n${'x: y\r\n'.repeat(500_000)}\r\n\r\n`],
    [
      'repeated boundary prefixes',
      `--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n${'\r\n--'.repeat(1_000_000)}`,
    ],
  ])('a form with %s is rejected', async (_, body) => {
    for (const path of [
      '/v1/audio/speech',
      '/v1/files',
      '/v1/audio/transcriptions',
      '/v1/videos/extensions',
    ]) {
      const response = await post(path, 'multipart/form-data; boundary=b', `${body}--b--\r\n`);
      expect([400, 413], await response.text()).toContain(response.status);
    }
    expect(await isUp()).toBe(true);
  });

  test('a boundary of 100 kB is rejected', async () => {
    const response = await exchange(
      `POST /v1/files HTTP/1.1\r\n${KEYED}connection: close\r\ncontent-type: multipart/form-data; boundary=${'b'.repeat(100_000)}\r\n\r\n`,
    );
    expect(statuses(response)).toEqual([431]);
  });

  test('responses to oversized range headers are small', async () => {
    const form = new FormData();
    form.set('purpose', 'batch');
    form.set('file', new File(['0123456789'], 'a.jsonl'));
    const headers = { 'x-api-key': SERVICE_KEY };
    const { id } = (await (
      await service.fetch('/v1/files', { method: 'POST', headers, body: form })
    ).json()) as { id: string };
    for (const range of [
      `bytes=${'0-,'.repeat(1000)}0-`,
      `bytes=${'9'.repeat(5000)}-`,
      `bytes=-${'9'.repeat(5000)}`,
    ]) {
      const response = await service.fetch(`/v1/files/${id}/content`, { headers: { ...headers, range } });
      expect((await response.arrayBuffer()).byteLength).toBeLessThan(500);
      expect([200, 206, 416]).toContain(response.status);
    }
  });

  test('patterns of schemas with unbounded backtracking are not executed', async () => {
    for (const pattern of [
      '(a+)+$',
      '(a|a)*b',
      '((a*)*)*',
      '(.*){1000}{1000}',
      '\\p{L}{99999}',
      '(?=(a+))\\1+',
      '['.repeat(5000),
    ]) {
      const schema = {
        type: 'object',
        properties: { a: { type: 'string', pattern } },
        required: ['a'],
        additionalProperties: false,
      };
      const format = { type: 'json_schema', name: 'x', schema, strict: true };
      const response = await post(
        '/v1/responses',
        'application/json',
        JSON.stringify({ model: 'smollm2-135m-instruct', input: 'a'.repeat(5000), text: { format } }),
      );
      expect([400, 502, 503]).toContain(response.status);
      await response.arrayBuffer();
    }
    expect(await isUp()).toBe(true);
  });
});

describe('malformed WebSocket frames', () => {
  const UPGRADE = `GET /v1/realtime?model=svc-tts HTTP/1.1\r\n${KEYED}upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: c2l4dGVlbiBieXRlcyBvaw==\r\n\r\n`;
  const frame = (...bytes: number[]) => Uint8Array.from(bytes);

  test.each([
    ['a reserved opcode', frame(0x83, 0x80, 0, 0, 0, 0)],
    ['no mask', frame(0x81, 0x02, 0x68, 0x69)],
    ['a continuation without a first fragment', frame(0x80, 0x80, 0, 0, 0, 0)],
    ['text that is not UTF-8', frame(0x81, 0x82, 0, 0, 0, 0, 0xff, 0xfe)],
    ['a fragmented control frame', frame(0x09, 0x80, 0, 0, 0, 0)],
    ['a ping of 126 bytes', frame(0x89, 0xfe, 0, 126, 0, 0, 0, 0, ...new Array(126).fill(0))],
    ['a length of 2^63', frame(0x81, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)],
    ['reserved bits', frame(0xf1, 0x80, 0, 0, 0, 0)],
    ['a close of one byte', frame(0x88, 0x81, 0, 0, 0, 0, 3)],
  ])('%s closes only its connection', async (_, bytes) => {
    const response = await exchange(UPGRADE, bytes);
    expect(response).toMatch(/^HTTP\/1\.1 101 /);
    expect(await isUp()).toBe(true);
  });

  test('a message of a million fragments does not block the service', async () => {
    const socket = dial();
    socket.write(UPGRADE);
    await new Promise((resolve) => socket.once('data', resolve));
    const fragments = Buffer.concat(Array(10_000).fill(frame(0x00, 0x81, 0, 0, 0, 0, 0x20)));
    socket.write(frame(0x01, 0x81, 0, 0, 0, 0, 0x20));
    for (let count = 0; count < 100 && socket.writable; count += 1) {
      if (!socket.write(fragments)) await new Promise((resolve) => socket.once('drain', resolve));
    }
    expect(await isUp()).toBe(true);
  });
});

test('a key that keeps many bodies incomplete gets 429, and other keys are served', async () => {
  const limits = '[limits]\nmax_request_bytes = 100000\nbody_bytes_per_key = 150000';
  const limited = await launchService({ config: `${NO_MODELS}\n${limits}` });
  onTestFinished(async () => void (await limited.stop()));
  const bytes = 60_000;
  const answers: string[] = [];
  const sockets = Array.from({ length: 4 }, () => {
    const socket = connect(Number(new URL(limited.baseUrl).port), '127.0.0.1');
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => answers.push(chunk.toString('latin1', 0, 12)));
    socket.write(
      `POST /v1/embeddings HTTP/1.1\r\n${KEYED}content-type: application/json\r\ncontent-length: ${bytes + 1}\r\n\r\n${' '.repeat(bytes)}`,
    );
    return socket;
  });
  await expect.poll(() => answers).toEqual(['HTTP/1.1 429', 'HTTP/1.1 429']);
  const other = await limited.fetch('/v1/embeddings', {
    method: 'POST',
    headers: { 'x-api-key': OTHER_KEY, 'content-type': 'application/json' },
    body: ' '.repeat(bytes),
  });
  expect(other.status).toBe(400);
  for (const socket of sockets) socket.destroy();
});

describe('slow clients', () => {
  /** Resolves when the service has closed the connection of a client that sends one byte per second. */
  async function closedAfter(start: string): Promise<void> {
    const socket = dial();
    socket.write(start);
    const dripping = setInterval(() => socket.writable && socket.write('a'), 1000);
    try {
      for await (const _ of socket) break;
    } finally {
      clearInterval(dripping);
    }
  }

  test('are disconnected before their request is complete', async () => {
    // The runtime has a timeout of 10 s with a resolution of 4 s. Without it, the test would not end.
    await Promise.all(
      ['', `GET /v1/models HTTP/1.1\r\nhost: test\r\nx: `, `GET /v1/models HTTP/1.1\r\n${KEYED}`].map(
        closedAfter,
      ),
    );
  });
});

test('many invalid keys are throttled; valid keys from the same address are accepted', async () => {
  const send = (key: string, init: RequestInit = {}) =>
    service.fetch('/v1/keys', { ...init, headers: { 'x-api-key': key, 'content-type': 'application/json' } });
  const created = await send(SERVICE_KEY, { method: 'POST', body: '{}' });
  const { key: unused } = (await created.json()) as { key: string };
  const guesses = await Promise.all(Array.from({ length: 10 }, (_, at) => send(`guess-${at}`)));
  const statuses = guesses.map(({ status }) => status);
  // A new minute may start during the requests.
  expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(6);
  expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(4);
  for (const { status, headers } of guesses) expect(headers.has('retry-after')).toBe(status === 429);
  for (const key of [unused, SERVICE_KEY]) expect((await send(key)).status).toBe(200);
});
