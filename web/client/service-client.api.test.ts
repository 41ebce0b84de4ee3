import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ServiceClient } from './service-client.ts';
import type { ServiceError } from './service-error.ts';

/** A server that echoes the request, below a path prefix such as a reverse proxy adds. */
let server: Bun.Server<undefined>;
beforeAll(() => {
  server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answer });
});
afterAll(() => server.stop(true));

async function answer(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  if (pathname === '/voice/v1/refused') {
    const error = { message: "'limit' must be smaller.", type: 'x', param: 'limit', code: 'invalid_value' };
    return Response.json(
      { error },
      { status: 400, headers: { 'x-request-id': 'req_1', 'retry-after': '7' } },
    );
  }
  if (pathname === '/voice/v1/unknown') return Response.json({ error: { message: 'No.' } }, { status: 401 });
  if (pathname === '/voice/v1/broken') return new Response('<html>', { status: 502 });
  if (pathname === '/voice/v1/text') return new Response('not JSON');
  if (pathname === '/voice/v1/events') return new Response('data: 1\n\ndata: 2\n\n');
  if (pathname === '/voice/v1/never') return new Promise(() => undefined);
  const headers = Object.fromEntries(request.headers);
  return Response.json({
    method: request.method,
    path: pathname + search,
    body: await request.text(),
    authorization: headers.authorization,
    type: headers['content-type'] ?? null,
  });
}

const client = (onRejected?: () => void) =>
  new ServiceClient('sk-1', `${server.url.origin}/voice/#/keys`, onRejected);
const errorFromBody = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: ServiceError) => error,
  );

describe('a request', () => {
  test('is resolved against the URL of the page and carries the key in a header', async () => {
    const query = { limit: 5, after: undefined, endpoint: 'POST /v1/x' };
    expect(await client().get('v1/usage', { query })).toEqual({
      method: 'GET',
      path: '/voice/v1/usage?limit=5&endpoint=POST+%2Fv1%2Fx',
      body: '',
      authorization: 'Bearer sk-1',
      type: null,
    });
    expect(await client().post('v1/keys', { name: 'x' })).toMatchObject({
      method: 'POST',
      body: '{"name":"x"}',
      type: 'application/json',
    });
    const form = new FormData();
    form.append('a', '1');
    expect(await client().post('v1/files', form)).toMatchObject({
      type: expect.stringMatching(/^multipart\/form-data; boundary=/),
    });
    expect(await client().put('v1/audio/lexicon', { word: 'a' })).toMatchObject({ method: 'PUT' });
    expect(await client().delete('v1/keys/1')).toMatchObject({ method: 'DELETE' });
  });

  test('for a WebSocket carries the key in a subprotocol, not in the URL', () => {
    const { address, protocols } = client().socket('v1/realtime', { model: 'svc-stt' });
    expect(address).toBe(`${server.url.origin.replace('http', 'ws')}/voice/v1/realtime?model=svc-stt`);
    expect(protocols).toEqual(['realtime', 'ext-insecure-api-key.sk-1']);
  });

  test('yields events as they arrive', async () => {
    const events = await Array.fromAsync(client().events('v1/events', {}));
    expect(events.map(({ data }) => data)).toEqual(['1', '2']);
  });
});

describe('an error', () => {
  test('has the message and code of the response body', async () => {
    expect(await errorFromBody(client().get('v1/refused'))).toMatchObject({
      name: 'ServiceError',
      message: "'limit' must be smaller.",
      status: 400,
      code: 'invalid_value',
      param: 'limit',
      requestId: 'req_1',
      retryAfterS: 7,
    });
  });

  test('names the status if the response is not from the service', async () => {
    expect(await errorFromBody(client().get('v1/broken'))).toMatchObject({ status: 502, code: null });
    expect((await errorFromBody(client().get('v1/broken')))?.message).toContain('502');
    expect((await errorFromBody(client().get('v1/text')))?.message).toContain('JSON');
  });

  test('with status 401 calls onKeyRejected', async () => {
    let rejections = 0;
    const count = () => {
      rejections += 1;
    };
    expect(await errorFromBody(client(count).get('v1/unknown'))).toMatchObject({ status: 401 });
    await errorFromBody(client(count).get('v1/refused'));
    expect(rejections).toBe(1);
  });

  test('with status 0 is thrown if the service is unreachable', async () => {
    const away = new ServiceClient('k', 'http://127.0.0.1:9/');
    expect(await errorFromBody(away.get('v1/models'))).toMatchObject({ name: 'ServiceError', status: 0 });
  });

  test('is an AbortError if the request was cancelled', async () => {
    const abort = new AbortController();
    const asking = errorFromBody(client().get('v1/never', { signal: abort.signal }));
    abort.abort();
    expect(await asking).toMatchObject({ name: 'AbortError' });
  });
});
