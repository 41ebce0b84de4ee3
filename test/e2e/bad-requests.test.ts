import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type LaunchedService,
  launchService,
  NO_MODELS,
  SERVICE_KEY,
} from '../../tools/harness/services/launcher.ts';

/** Requests as bytes, against the real process: what no well-behaved client would send. */

let service: LaunchedService;
beforeAll(async () => {
  service = await launchService({
    config: `${NO_MODELS}\n[limits]\nmax_request_bytes = 4096`,
  });
});
afterAll(() => service.stop());

/** Sends bytes on a fresh connection and gives everything that comes back until it is closed. */
function exchange(...pieces: readonly (string | Uint8Array)[]): Promise<string> {
  const { port } = new URL(service.baseUrl);
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect(Number(port), '127.0.0.1');
  let answer = '';
  socket.on('data', (data) => {
    answer += data.toString('latin1');
  });
  socket.on('error', () => resolve(answer));
  socket.on('close', () => resolve(answer));
  for (const piece of pieces) socket.write(piece);
  return promise;
}

const HEAD = `host: test\r\nauthorization: Bearer ${SERVICE_KEY}\r\nconnection: close\r\n`;
/** 0 when the connection was closed without an answer. */
const status = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0);

describe('the process answers and lives', () => {
  test.each([
    ['plain text', 'hello\r\n\r\n', [400]],
    [
      'no host',
      `GET /v1/models HTTP/1.1\r\nauthorization: Bearer ${SERVICE_KEY}\r\nconnection: close\r\n\r\n`,
      [200, 400],
    ],
    [
      'HTTP/1.0 without a host',
      `GET /v1/models HTTP/1.0\r\nauthorization: Bearer ${SERVICE_KEY}\r\n\r\n`,
      [200],
    ],
    ['a health check of HTTP/1.0', 'GET /readyz HTTP/1.0\r\n\r\n', [200]],
    ...['', 'a b', 'x?', '[', 'a:b:c'].map((host): [string, string, number[]] => [
      `the host '${host}'`,
      `GET /v1/models HTTP/1.1\r\n${HEAD.replace('host: test', `host: ${host}`)}\r\n`,
      [400],
    ]),
    [
      'two hosts',
      `GET /v1/models HTTP/1.1\r\n${HEAD.replace('host: test', 'host: test\r\nhost: other')}\r\n`,
      [400],
    ],
    ['an unknown method', `BREW /v1/models HTTP/1.1\r\n${HEAD}\r\n`, [0, 400, 405]],
    ['a header of 100 kB', `GET /v1/models HTTP/1.1\r\n${HEAD}x-long: ${'x'.repeat(100_000)}\r\n\r\n`, [431]],
    ['5000 headers', `GET /v1/models HTTP/1.1\r\n${HEAD}${'a: b\r\n'.repeat(5000)}\r\n`, [400, 431]],
    ['a path of 50 kB', `GET /v1/${'x'.repeat(50_000)} HTTP/1.1\r\n${HEAD}\r\n`, [400, 404, 414, 431]],
    ['a path that leaves the root', `GET /../../etc/passwd HTTP/1.1\r\n${HEAD}\r\n`, [404]],
    ['a NUL in the path', `GET /v1/models%00 HTTP/1.1\r\n${HEAD}\r\n`, [400]],
    ['broken percent signs', `GET /v1/models/%zz%%% HTTP/1.1\r\n${HEAD}\r\n`, [400, 404]],
    ['a whole address as the target', `GET http://other/v1/models HTTP/1.1\r\n${HEAD}\r\n`, [200, 400, 404]],
    [
      'a length that is not a number',
      `POST /v1/usage HTTP/1.1\r\n${HEAD}content-length: many\r\n\r\n`,
      [400],
    ],
    ['a negative length', `POST /v1/usage HTTP/1.1\r\n${HEAD}content-length: -5\r\n\r\n`, [400]],
    [
      'two lengths',
      `POST /v1/usage HTTP/1.1\r\n${HEAD}content-length: 1\r\ncontent-length: 2\r\n\r\nab`,
      [400, 405],
    ],
    [
      'length and chunks',
      `POST /v1/usage HTTP/1.1\r\n${HEAD}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
      [400, 405],
    ],
    [
      'a chunk size that is not a number',
      `POST /v1/usage HTTP/1.1\r\n${HEAD}transfer-encoding: chunked\r\n\r\nzz\r\n`,
      [400, 405],
    ],
    ['an announced 10 GB', `POST /v1/usage HTTP/1.1\r\n${HEAD}content-length: 10000000000\r\n\r\n`, [413]],
  ])('to %s', async (_, bytes, allowed) => {
    const answer = await exchange(bytes);
    expect(allowed, answer.slice(0, 300)).toContain(status(answer));
    expect((await service.fetch('/healthz')).status).toBe(200);
  });

  test('to random bytes', async () => {
    const noise = crypto.getRandomValues(new Uint8Array(4096));
    // Some noise reads like a request of another version.
    expect([0, 400, 505]).toContain(status(await exchange(noise, '\r\n\r\n')));
    expect((await service.fetch('/healthz')).status).toBe(200);
  });

  test.each(['content-length: 4000\r\n\r\nhalf', 'transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n'])(
    'to a client that leaves in the middle of a body: %j',
    async (body) => {
      const { port } = new URL(service.baseUrl);
      const socket = connect(Number(port), '127.0.0.1');
      const head = `POST /v1/audio/speech HTTP/1.1\r\n${HEAD}content-type: application/json\r\n${body}`;
      await new Promise((resolve) => socket.write(head, resolve));
      // Lines of earlier requests may still be on their way, so only those of this kind count.
      const left = () => service.log().filter(({ status: code }) => code === 499).length;
      const before = left();
      socket.end();
      socket.destroy();
      await expect.poll(left).toBe(before + 1);
    },
  );
});

describe('our own refusals', () => {
  test('a body over the limit has the error body and the request id', async () => {
    const response = await service.fetch('/v1/usage', { method: 'POST', body: 'x'.repeat(4097) });
    expect(response.status).toBe(413);
    expect(response.headers.get('x-request-id')).toMatch(/^req_/);
    expect(await response.json()).toMatchObject({ error: { code: 'payload_too_large' } });
  });

  test('a hundred concurrent requests each get their own response', async () => {
    const answers = await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        const response = await service.fetch(`/v1/models/model-${index}`);
        return [response.status, response.headers.get('x-request-id')] as const;
      }),
    );
    expect(answers.every(([code]) => code === 404)).toBe(true);
    expect(new Set(answers.map(([, id]) => id)).size).toBe(100);
  });

  test('HEAD has the headers of GET and no body', async () => {
    const answer = await exchange(`HEAD /v1/models HTTP/1.1\r\n${HEAD}\r\n`);
    expect(status(answer)).toBe(200);
    expect(answer).toMatch(/x-request-id: req_/i);
    expect(answer.split('\r\n\r\n')[1]).toBe('');
  });

  test('nothing of a key or a query reached the log', async () => {
    await service.fetch('/v1/models?secret=hunter2', { headers: { 'x-api-key': 'hunter3' } });
    await expect.poll(() => service.log().some(({ status: code }) => code === 401)).toBe(true);
    expect(service.output()).not.toMatch(/hunter|test-key/);
  });
});
