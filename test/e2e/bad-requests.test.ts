import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type LaunchedService,
  launchService,
  NO_MODELS,
  OTHER_KEY,
  SERVICE_KEY,
} from '../../tools/harness/services/launcher.ts';

/** Malformed HTTP requests, sent as bytes to the real process. */

let service: LaunchedService;
beforeAll(async () => {
  service = await launchService({
    config: `${NO_MODELS}\n[limits]\nmax_request_bytes = 4096`,
  });
});
afterAll(() => service.stop());

/** Sends bytes on a new connection. @returns all bytes that the server sends before it closes, as Latin-1. */
function exchange(...pieces: readonly (string | Uint8Array)[]): Promise<string> {
  const { port } = new URL(service.baseUrl);
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect(Number(port), '127.0.0.1');
  let received = '';
  socket.on('data', (data) => {
    received += data.toString('latin1');
  });
  socket.on('error', () => resolve(received));
  socket.on('close', () => resolve(received));
  for (const piece of pieces) socket.write(piece);
  return promise;
}

const JSON_BODY = { authorization: `Bearer ${SERVICE_KEY}`, 'content-type': 'application/json' };
const HEAD = `host: test\r\nauthorization: Bearer ${SERVICE_KEY}\r\nconnection: close\r\n`;
/** The status code, or 0 if the connection was closed without a response. */
const status = (response: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(response)?.[1] ?? 0);

describe('a malformed request gets an expected status, and the process keeps running', () => {
  test.each([
    ['plain text', 'hello\r\n\r\n', [400]],
    [
      'no host header',
      `GET /v1/models HTTP/1.1\r\nauthorization: Bearer ${SERVICE_KEY}\r\nconnection: close\r\n\r\n`,
      [200, 400],
    ],
    [
      'HTTP/1.0 without a host header',
      `GET /v1/models HTTP/1.0\r\nauthorization: Bearer ${SERVICE_KEY}\r\n\r\n`,
      [200],
    ],
    ['a health check over HTTP/1.0', 'GET /readyz HTTP/1.0\r\n\r\n', [200]],
    ...['', 'a b', 'x?', '[', 'a:b:c'].map((host): [string, string, number[]] => [
      `the host header '${host}'`,
      `GET /v1/models HTTP/1.1\r\n${HEAD.replace('host: test', `host: ${host}`)}\r\n`,
      [400],
    ]),
    [
      'two host headers',
      `GET /v1/models HTTP/1.1\r\n${HEAD.replace('host: test', 'host: test\r\nhost: other')}\r\n`,
      [400],
    ],
    ['an unknown HTTP method', `BREW /v1/models HTTP/1.1\r\n${HEAD}\r\n`, [0, 400, 405]],
    ['a header of 100 kB', `GET /v1/models HTTP/1.1\r\n${HEAD}x-long: ${'x'.repeat(100_000)}\r\n\r\n`, [431]],
    ['5000 headers', `GET /v1/models HTTP/1.1\r\n${HEAD}${'a: b\r\n'.repeat(5000)}\r\n`, [400, 431]],
    ['a path of 50 kB', `GET /v1/${'x'.repeat(50_000)} HTTP/1.1\r\n${HEAD}\r\n`, [400, 404, 414, 431]],
    ['a path with ..', `GET /../../etc/passwd HTTP/1.1\r\n${HEAD}\r\n`, [404]],
    ['an encoded NUL in the path', `GET /v1/models%00 HTTP/1.1\r\n${HEAD}\r\n`, [400]],
    ['invalid percent-encoding', `GET /v1/models/%zz%%% HTTP/1.1\r\n${HEAD}\r\n`, [400, 404]],
    [
      'an absolute URL as the request target',
      `GET http://other/v1/models HTTP/1.1\r\n${HEAD}\r\n`,
      [200, 400, 404],
    ],
    [
      'a content-length that is not a number',
      `POST /v1/usage HTTP/1.1\r\n${HEAD}content-length: many\r\n\r\n`,
      [400],
    ],
    ['a negative content-length', `POST /v1/usage HTTP/1.1\r\n${HEAD}content-length: -5\r\n\r\n`, [400]],
    [
      'two content-length headers',
      `POST /v1/usage HTTP/1.1\r\n${HEAD}content-length: 1\r\ncontent-length: 2\r\n\r\nab`,
      [400, 405],
    ],
    [
      'content-length and transfer-encoding',
      `POST /v1/usage HTTP/1.1\r\n${HEAD}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
      [400, 405],
    ],
    [
      'a chunk size that is not a number',
      `POST /v1/usage HTTP/1.1\r\n${HEAD}transfer-encoding: chunked\r\n\r\nzz\r\n`,
      [400, 405],
    ],
    [
      'a content-length of 10 GB',
      `POST /v1/usage HTTP/1.1\r\n${HEAD}content-length: 10000000000\r\n\r\n`,
      [413],
    ],
  ])('%s', async (_, bytes, allowed) => {
    const response = await exchange(bytes);
    expect(allowed, response.slice(0, 300)).toContain(status(response));
    expect((await service.fetch('/healthz')).status).toBe(200);
  });

  test('random bytes', async () => {
    const noise = crypto.getRandomValues(new Uint8Array(4096));
    // Some random bytes parse as a request with an unsupported HTTP version.
    expect([0, 400, 505]).toContain(status(await exchange(noise, '\r\n\r\n')));
    expect((await service.fetch('/healthz')).status).toBe(200);
  });

  test.each([
    ['with content-length', 'content-length: 4000\r\n\r\nhalf'],
    ['in chunks', 'transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n'],
  ])('a body %s, aborted half-way, is logged with status 499', async (_, body) => {
    const { port } = new URL(service.baseUrl);
    const socket = connect(Number(port), '127.0.0.1');
    const head = `POST /v1/audio/speech HTTP/1.1\r\n${HEAD}content-type: application/json\r\n${body}`;
    await new Promise((resolve) => socket.write(head, resolve));
    // Log lines of earlier requests may still arrive, so only aborted requests are counted.
    const aborted = () => service.log().filter(({ status: code }) => code === 499).length;
    const before = aborted();
    socket.end();
    socket.destroy();
    await expect.poll(aborted).toBe(before + 1);
  });
});

describe('a request that clients write in another way works', () => {
  const request = (target: string, head = HEAD) => exchange(`GET ${target} HTTP/1.1\r\n${head}\r\n`);

  test.each([
    ...['//v1/models', '/v1//models', '///v1///models//svc-tts', '/v1/models/', '//healthz'],
    ...['/v1//files?limit=2&api-version=2026-01-01', '/v1/batches?api-version=1&x=//'],
  ])('%s', async (target) => {
    expect(status(await request(target))).toBe(200);
  });

  test.each([
    `authorization: Basic dXNlcjpwYXNz\r\nx-api-key: ${SERVICE_KEY}`,
    `authorization: Bearer\r\nx-api-key: ${SERVICE_KEY}`,
    `authorization: Bearer   ${SERVICE_KEY}  `,
    `authorization: Bearer token-of-a-proxy\r\nx-partner-secret:   ${SERVICE_KEY} `,
  ])('with the headers %j', async (credentials) => {
    const head = `host: test\r\n${credentials}\r\nconnection: close\r\n`;
    expect(status(await request('/v1/models', head))).toBe(200);
  });

  test('two different valid keys are an error', async () => {
    const response = await request('/v1/models', `${HEAD}x-api-key: ${OTHER_KEY}\r\n`);
    expect(status(response)).toBe(401);
    expect(response).toContain('different API keys');
  });

  test('a preflight allows every header', async () => {
    const response = await service.fetch('/v1//chat/completions', {
      method: 'OPTIONS',
      headers: {
        origin: 'https://page.test',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,openai-beta,traceparent,user-agent',
      },
    });
    expect(response.headers.get('access-control-allow-headers')).toBe(
      'authorization, openai-beta, traceparent, user-agent',
    );
  });
});

describe('responses of the service', () => {
  test('errors name the value, the nearest match and the remedy', async () => {
    const messageOf = async (path: string, body?: object) => {
      const init = body && { method: 'POST', body: JSON.stringify(body), headers: JSON_BODY };
      const response = await service.fetch(path, init);
      return ((await response.json()) as { error: { message: string } }).error.message;
    };
    const speech = { model: 'svc-tts', input: 'Hello.' };
    expect(await messageOf('/v1/audio/speech', { ...speech, model: 'svc-ttts' })).toMatch(
      /'svc-ttts'.*Did you mean 'svc-tts'\?.*\[models\."svc-ttts"\] in CONFIG/,
    );
    expect(await messageOf('/v1/audio/speech', { ...speech, voice: 'tts-vc-voice_0' })).toMatch(
      /'tts-vc-voice_0'.*GET \/v1\/audio\/voices lists/,
    );
    expect(await messageOf('/v1/audio/speach', speech)).toMatch(
      /'\/v1\/audio\/speach' is not offered by this service. Did you mean '\/v1\/audio\/speech'\?/,
    );
    expect(await messageOf('/v1/audio/speech', { ...speech, respnse_format: 'pcm' })).toMatch(
      /'respnse_format' is unknown; .*\(did you mean 'response_format'\?\)/,
    );
  });

  test('a request body over max_request_bytes gets the error body and a request id', async () => {
    const response = await service.fetch('/v1/usage', { method: 'POST', body: 'x'.repeat(4097) });
    expect(response.status).toBe(413);
    expect(response.headers.get('x-request-id')).toMatch(/^req_/);
    expect(await response.json()).toMatchObject({ error: { code: 'payload_too_large' } });
  });

  test('a hundred concurrent requests each get their own response', async () => {
    const responses = await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        const response = await service.fetch(`/v1/models/model-${index}`);
        return [response.status, response.headers.get('x-request-id')] as const;
      }),
    );
    expect(responses.every(([code]) => code === 404)).toBe(true);
    expect(new Set(responses.map(([, id]) => id)).size).toBe(100);
  });

  test('HEAD has the headers of GET and no body', async () => {
    const response = await exchange(`HEAD /v1/models HTTP/1.1\r\n${HEAD}\r\n`);
    expect(status(response)).toBe(200);
    expect(response).toMatch(/x-request-id: req_/i);
    expect(response.split('\r\n\r\n')[1]).toBe('');
  });

  test('keys and query strings are not logged', async () => {
    await service.fetch('/v1/models?secret=hunter2', { headers: { 'x-api-key': 'hunter3' } });
    await expect.poll(() => service.log().some(({ status: code }) => code === 401)).toBe(true);
    expect(service.output()).not.toMatch(/hunter|test-key/);
  });
});
