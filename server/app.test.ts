import { Elysia, t } from 'elysia';
import { afterEach, describe, expect, test } from 'vitest';
import { ServiceError } from '../src/contract/core/error.ts';
import type { ModelReadiness, PluginReadiness } from '../src/http/routes/readiness.ts';
import { callerOf } from '../src/http/security/caller.ts';
import { isPublic } from '../test/harness/public-paths.ts';
import { KEY_A, KEY_B, type TestApp, type TestAppOptions, testApp } from '../test/harness/test-app.ts';

const opened: TestApp[] = [];
function open(options?: TestAppOptions): TestApp {
  const app = testApp(options);
  opened.push(app);
  return app;
}
afterEach(() => {
  for (const app of opened.splice(0)) app.close();
});

const feature = new Elysia({ name: 'feature' })
  .post('/v1/things/:thing', ({ request, body }) => ({ ...callerOf(request), body }), {
    body: t.Object(
      {
        name: t.String({ minLength: 1, maxLength: 5 }),
        size: t.Optional(t.Object({ width: t.Integer({ minimum: 1, maximum: 9 }) })),
        kind: t.Optional(t.Union([t.Literal('round'), t.Literal('square')])),
      },
      { additionalProperties: false },
    ),
  })
  .get('/v1/broken', () => {
    throw new Error('the text of a caller');
  })
  .get('/v1/stream', () => {
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('audio'));
        controller.close();
      },
    });
    return new Response(body, { headers: { 'content-type': 'audio/pcm' } });
  })
  .get('/v1/conflict', () => {
    throw new ServiceError('conflict', 'It was cancelled already.');
  })
  .get('/v1/wrong', () => ({ size: 'a private text' }) as never, { response: t.Object({ size: t.Number() }) })
  .get('/v1/files/*', () => 'file');

function json(body: unknown): RequestInit {
  return {
    method: 'POST',
    headers: { 'x-api-key': KEY_A, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  };
}

interface WireError {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
}

async function errorOf(response: Response): Promise<WireError> {
  const body = (await response.json()) as { error: WireError };
  expect(Object.keys(body)).toEqual(['error']);
  expect(Object.keys(body.error).sort()).toEqual(['code', 'message', 'param', 'type']);
  expect(response.headers.get('content-type')).toContain('application/json');
  return body.error;
}

describe('every response', () => {
  test.each([
    ['GET', '/', 200],
    ['GET', '/console/main-0a1b2c3d.js', 200],
    ['GET', '/healthz', 200],
    ['GET', '/readyz', 200],
    ['GET', '/metrics', 200],
    ['GET', '/swagger', 200],
    ['GET', '/swagger/json', 200],
    ['GET', '/swagger/swagger-ui.css', 200],
    ['GET', '/swagger/swagger-ui-bundle.js', 200],
    ['GET', '/v1/models', 200],
    ['GET', '/v1/models/', 200],
    ['HEAD', '/v1/models', 200],
    ['GET', '/v1/stream', 200],
    ['GET', '/v1/broken', 500],
    ['GET', '/v1/nothing', 404],
    ['GET', '/v1/models/%E0%A4%A', 400],
    ['GET', '/v1/models/a%2Fb', 404],
    ['POST', '/v1/models', 405],
    ['PUT', '/v1/things/x', 405],
    ['OPTIONS', '/v1/models', 405],
    ['DELETE', '/v1/files/a/b', 405],
    ['PROPFIND', '/v1/models', 405],
  ])('%s %s has a request id and status %i', async (method, path, status) => {
    const response = await open({ routes: [feature] }).send(path, {
      method,
      headers: { 'x-api-key': KEY_A },
    });
    expect(response.status).toBe(status);
    expect(response.headers.get('x-request-id')).toMatch(/^req_[0-9a-f]{32}$/);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('content-security-policy')).toMatch(
      /^default-src 'none';.*frame-ancestors 'none'/,
    );
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
    expect(response.headers.get('cache-control')).not.toBeNull();
    expect(response.headers.get('server')).toBeNull();
    if (status >= 400) await errorOf(response);
  });

  test('request ids are unique', async () => {
    const app = open();
    const ids = await Promise.all(Array.from({ length: 50 }, () => app.send('/healthz')));
    expect(new Set(ids.map((answer) => answer.headers.get('x-request-id'))).size).toBe(50);
  });

  test('405 lists the allowed methods', async () => {
    const response = await open().send('/v1/models', { method: 'POST', headers: { 'x-api-key': KEY_A } });
    expect(response.headers.get('allow')).toBe('GET, HEAD');
    expect((await errorOf(response)).message).toContain('GET, HEAD');
  });
});

describe('keys', () => {
  test('without one, every route except the public ones returns 401 missing_api_key', async () => {
    const { app, send } = open({ routes: [feature] });
    expect(app.routes.length).toBeGreaterThan(8);
    for (const { method, path } of app.routes) {
      const real = path
        .replace(':thing', 'x')
        .replace(':model', 'svc-tts')
        .replace('*', 'a/b')
        .replace(':file', 'main-0a1b2c3d.js');
      const response = await send(real, { method, headers: {} });
      if (isPublic(path)) expect(response.status, `${method} ${path}`).toBe(200);
      else {
        expect(response.status, `${method} ${path}`).toBe(401);
        expect(await errorOf(response)).toMatchObject({
          type: 'invalid_request_error',
          code: 'missing_api_key',
        });
      }
    }
  });

  test.each([
    { authorization: `Bearer ${KEY_A}` },
    { AUTHORIZATION: `bearer   ${KEY_A} ` },
    { 'X-Api-Key': KEY_A },
    { 'x-partner-secret': KEY_A },
    { authorization: `Bearer ${KEY_A}`, 'x-api-key': KEY_A, 'x-partner-secret': KEY_A },
    { authorization: '', 'x-api-key': KEY_A },
    { authorization: 'Bearer ', 'x-api-key': KEY_A },
    { authorization: `Basic ${btoa('proxy:password')}`, 'x-api-key': ` ${KEY_A} ` },
    { authorization: 'Bearer token-of-a-proxy', 'x-partner-secret': KEY_A },
    { authorization: `Bearer ${KEY_A}`, 'x-api-key': 'placeholder' },
  ])('%o is accepted', async (headers) => {
    expect((await open().send('/v1/models', { headers })).status).toBe(200);
  });

  test.each([
    [{ authorization: 'Bearer wrong' }, 'invalid_api_key'],
    [{ 'x-api-key': 'wrong' }, 'invalid_api_key'],
    [{ authorization: `Basic ${btoa(`a:${KEY_A}`)}` }, 'invalid_api_key'],
    [{ authorization: KEY_A }, 'invalid_api_key'],
    [{ authorization: `Bearer ${KEY_A}`, 'x-api-key': KEY_B }, 'invalid_api_key'],
    [{ 'x-api-key': 'k'.repeat(600) }, 'invalid_api_key'],
    [{ 'x-api-key': `${KEY_A}, ${KEY_A}` }, 'invalid_api_key'],
    [{ authorization: 'Bearer ' }, 'missing_api_key'],
    [{ 'x-api-key': '  ' }, 'missing_api_key'],
    [{}, 'missing_api_key'],
  ])('%o returns 401 %s', async (headers, code) => {
    const response = await open().send('/v1/models', { headers });
    expect(response.status).toBe(401);
    expect(await errorOf(response)).toMatchObject({ type: 'invalid_request_error', param: null, code });
  });

  test('an alternative spelling of a path does not bypass authentication', async () => {
    const app = open({ routes: [feature] });
    for (const path of [
      '/v1/%6dodels',
      '/v1//models',
      '/%76%31/models',
      '/healthz/../v1/models',
      '/v1/models?/healthz',
    ]) {
      const { status } = await app.send(path, { headers: {} });
      expect([401, 404], path).toContain(status);
    }
  });

  test('the host name does not matter', async () => {
    const { app } = open();
    for (const host of ['x', 'api', 'localhost', '127.0.0.1:1', '[::1]:8080']) {
      const request = new Request(`http://${host}/v1/models`, { headers: { 'x-api-key': KEY_A } });
      expect((await app.handle(request)).status, host).toBe(200);
    }
  });

  test('after too many invalid keys of an address its invalid keys are 429, and its valid keys are accepted', async () => {
    const { send, clock } = open({ invalidKeysPerMinute: 2 });
    const statusOf = async (key: string) =>
      (await send('/v1/models', { headers: { 'x-api-key': key } })).status;
    for (const key of ['wrong 1', 'wrong 2']) expect(await statusOf(key)).toBe(401);
    const refused = await send('/v1/models', { headers: { 'x-api-key': 'wrong 3' } });
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('60');
    expect(await errorOf(refused)).toMatchObject({ type: 'rate_limit_error', code: 'rate_limit_exceeded' });
    // A fixed and a stored key, neither of which this process has cached.
    const created = await send('/v1/keys', {
      method: 'POST',
      headers: { 'x-api-key': KEY_A, 'content-type': 'application/json' },
      body: '{}',
    });
    const { key } = (await created.json()) as { key: string };
    for (const valid of [key, KEY_B, KEY_A]) expect(await statusOf(valid)).toBe(200);
    expect(await statusOf('wrong 1')).toBe(429);
    clock.advance(60_000);
    expect(await statusOf('wrong 1')).toBe(401);
  });

  test('requests without a key do not count as invalid keys', async () => {
    const { send } = open({ invalidKeysPerMinute: 1 });
    for (let time = 0; time < 3; time += 1) await send('/v1/models', { headers: {} });
    expect((await send('/v1/models', { headers: { 'x-api-key': 'wrong' } })).status).toBe(401);
  });

  test('an unknown path is 404 without a key', async () => {
    expect((await open().send('/v1/nothing', { headers: {} })).status).toBe(404);
  });

  test.each([
    [
      '/v1/images/generations',
      "'/v1/images/generations' is not offered by this service. GET /swagger lists all routes.",
    ],
    [
      '/v1/modells',
      "'/v1/modells' is not offered by this service. Did you mean '/v1/models'? GET /swagger lists all routes.",
    ],
    ['/models?x=1', "'/models' is not offered by this service. Did you mean '/v1/models'?"],
    ['/v1/modles/svc-tts', "Did you mean '/v1/models/svc-tts'?"],
    [`/v1/${'x'.repeat(200)}`, 'The path is not offered by this service. GET /swagger'],
  ])('the error of the unknown path %s names it and the nearest route', async (path, message) => {
    for (const headers of [{}, { 'x-api-key': KEY_A }]) {
      const error = await errorOf(await open().send(path, { headers }));
      expect(error.message).toContain(message);
    }
  });

  test('the body of a request without a key is not read', async () => {
    let pulled = 0;
    const body = new ReadableStream(
      {
        pull(controller) {
          pulled += 1;
          controller.enqueue(new Uint8Array(1024));
        },
      },
      { highWaterMark: 0 },
    );
    const response = await open({ routes: [feature] }).send('/v1/things/x', {
      method: 'POST',
      headers: {},
      body,
    });
    expect(response.status).toBe(401);
    expect(pulled).toBe(0);
  });
});

describe('bodies', () => {
  const app = () => open({ routes: [feature] });

  test('a handler receives the caller and the body', async () => {
    const response = await app().send('/v1/things/x', json({ name: 'ab' }));
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      organization: 'a',
      keyId: expect.stringMatching(/^[0-9a-f]{16}$/),
      requestId: response.headers.get('x-request-id'),
      body: { name: 'ab' },
    });
  });

  test.each([
    [{}, 'name', 'missing_required_parameter', 'a string of 1 to 5 characters'],
    [{ name: 5 }, 'name', 'invalid_type', 'a string of 1 to 5 characters'],
    [{ name: null }, 'name', 'invalid_type', 'a string'],
    [{ name: 'abcdef' }, 'name', 'string_above_max_length', '1 to 5 characters'],
    [{ name: '' }, 'name', 'invalid_value', '1 to 5 characters'],
    [{ name: 'a', extra: 1 }, 'extra', 'unknown_parameter', 'allowed: name, size, kind'],
    [{ name: 'a', sise: {} }, 'sise', 'unknown_parameter', "did you mean 'size'?"],
    [{ name: 'a', size: { width: 10 } }, 'size.width', 'invalid_value', 'an integer from 1 to 9'],
    [{ name: 'a', size: { width: 'wide' } }, 'size.width', 'invalid_type', 'an integer from 1 to 9'],
    [{ name: 'a', size: [] }, 'size', 'invalid_type', 'an object'],
    [{ name: 'a', kind: 'oval' }, 'kind', 'invalid_value', 'one of "round", "square"'],
    [[], null, 'invalid_type', 'a JSON object'],
    ['"text"', null, 'invalid_type', 'a JSON object'],
    ['null', null, 'invalid_type', 'a JSON object'],
    ['', 'name', 'missing_required_parameter', 'is required'],
    ['{"name":"a"', null, 'invalid_json', 'valid JSON'],
    ['{"name":"a"}}', null, 'invalid_json', 'valid JSON'],
    [`${'['.repeat(30_000)}`, null, 'invalid_value', '100 nested lists and objects'],
  ])('%j returns 400 with param %s, code %s and message: %s', async (body, param, code, words) => {
    const response = await app().send('/v1/things/x', json(body));
    expect(response.status).toBe(400);
    const error = await errorOf(response);
    expect(error).toMatchObject({ type: 'invalid_request_error', param, code });
    expect(error.message).toContain(words);
  });

  test('messages never contain request data', async () => {
    const secret = 'my private words';
    for (const body of [{ name: secret }, { name: 'a', kind: secret }, `{"name": "${secret}`]) {
      const response = await app().send('/v1/things/x', json(body));
      expect(JSON.stringify(await response.json())).not.toContain('private');
    }
  });

  test('bytes that are not UTF-8 are invalid_json', async () => {
    const body = new Uint8Array([...new TextEncoder().encode('{"name":"'), 0xff, 0xfe, 0x22, 0x7d]);
    const init = { ...json(''), body };
    expect((await errorOf(await app().send('/v1/things/x', init))).code).toBe('invalid_json');
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', ''])(
    'content type %j answers 415',
    async (type) => {
      const headers = { 'x-api-key': KEY_A, 'content-type': type };
      const response = await app().send('/v1/things/x', { method: 'POST', headers, body: 'name=a' });
      expect(response.status).toBe(415);
      expect((await errorOf(response)).message).toContain("'application/json' or 'multipart/form-data'");
    },
  );

  test('a body over the limit returns 413, with or without content-length', async () => {
    const { send } = open({ routes: [feature], requestBytes: 2048 });
    const announced = await send('/v1/things/x', {
      method: 'POST',
      headers: { 'x-api-key': KEY_A, 'content-type': 'application/json', 'content-length': '2049' },
    });
    const chunked = await send('/v1/things/x', {
      ...json(''),
      body: new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(600).fill(32)),
      }),
    });
    for (const response of [announced, chunked]) {
      expect(response.status).toBe(413);
      expect(await errorOf(response)).toMatchObject({ code: 'payload_too_large' });
    }
    const exact = await send('/v1/things/x', json(`{"name":"a"}${' '.repeat(2048 - 12)}`));
    expect(exact.status).toBe(200);
  });
});

describe('failures', () => {
  test('an unexpected error returns 500 without its message, and logs only its class', async () => {
    const app = open({ routes: [feature] });
    const response = await app.send('/v1/broken');
    const error = await errorOf(response);
    expect(error).toMatchObject({ type: 'server_error', code: 'server_error', param: null });
    expect(error.message).not.toContain('caller');
    const line = app.log.lines.find(({ level }) => level === 'error');
    expect(line?.fields.request_id).toBe(response.headers.get('x-request-id'));
  });

  test('a response that violates its schema is 500, not a client error', async () => {
    const response = await open({ routes: [feature] }).send('/v1/wrong');
    expect(response.status).toBe(500);
    expect(JSON.stringify(await errorOf(response))).not.toContain('private');
  });

  test('a permanent conflict tells SDKs not to retry', async () => {
    const response = await open({ routes: [feature] }).send('/v1/conflict');
    expect(response.status).toBe(409);
    expect(response.headers.get('x-should-retry')).toBe('false');
  });

  test('while stopping, new requests are rejected and probes are still served', async () => {
    const { send } = open({ phase: () => 'stopping' });
    const refused = await send('/v1/models');
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.headers.get('connection')).toBe('close');
    expect((await errorOf(refused)).code).toBe('server_overloaded');
    expect((await send('/healthz')).status).toBe(200);
    expect((await send('/metrics')).status).toBe(200);
    const readyz = await send('/readyz');
    expect(readyz.status).toBe(503);
    expect(await readyz.json()).toMatchObject({ status: 'stopping' });
  });

  test('while draining, readiness is 503, requests are accepted and connections are closed after them', async () => {
    const { send } = open({ phase: () => 'draining' });
    const readyz = await send('/readyz');
    expect(readyz.status).toBe(503);
    expect(await readyz.json()).toMatchObject({ status: 'stopping' });
    const accepted = await send('/v1/models');
    expect(accepted.status).toBe(200);
    expect(accepted.headers.get('connection')).toBe('close');
    expect((await open().send('/v1/models')).headers.get('connection')).toBeNull();
  });
});

describe('readiness', () => {
  const plugins = new Map<string, PluginReadiness>([
    ['speech', { state: 'on', ready: true, detail: 'svc-tts: unavailable' }],
    ['responses', { state: 'failed', ready: false, detail: 'a reason' }],
  ]);
  const models = new Map<string, ModelReadiness>([
    ['svc-tts', { task: 'speech', ready: false, detail: 'the upstream server is unavailable' }],
    ['svc-stt', { task: 'transcription', ready: true }],
  ]);
  const readyz = async (options: Parameters<typeof open>[0]) => {
    const answer = await open(options).send('/readyz', { headers: {} });
    return { status: answer.status, body: await answer.json() };
  };

  test('reports each plugin and each model, and stays 200 while a model works', async () => {
    expect(await readyz({ readiness: () => plugins, models: () => models })).toEqual({
      status: 200,
      body: {
        status: 'ready',
        plugins: Object.fromEntries(plugins),
        models: {
          'svc-tts': {
            task: 'speech',
            ready: false,
            required: false,
            detail: 'the upstream server is unavailable',
          },
          'svc-stt': { task: 'transcription', ready: true, required: false },
        },
        storage: { database: { ready: true }, blobs: { ready: true }, data_dir: { ready: true } },
      },
    });
  });

  test('is 503 while a required model is unavailable', async () => {
    const parts = { readiness: () => plugins, models: () => models };
    expect(await readyz({ ...parts, requiredModels: ['svc-tts'] })).toMatchObject({
      status: 503,
      body: { status: 'unavailable', models: { 'svc-tts': { required: true } } },
    });
    expect(await readyz({ ...parts, requiredModels: ['svc-stt'] })).toMatchObject({ status: 200 });
  });
});

describe('log and metrics', () => {
  test('one line per request, with the route pattern and without the query', async () => {
    const app = open();
    app.log.lines.length = 0;
    const response = await app.send('/v1/models/private-id?secret=1');
    await expect.poll(() => app.log.lines.length).toBe(1);
    expect(app.log.lines[0]).toMatchObject({
      level: 'info',
      message: 'request',
      fields: {
        method: 'GET',
        route: '/v1/models/:model',
        status: 404,
        request_id: response.headers.get('x-request-id'),
        organization: 'a',
      },
    });
    expect(JSON.stringify(app.log.lines)).not.toMatch(/private-id|secret|key-of/);
  });

  test('successful probes are not logged, because they are frequent', async () => {
    const app = open();
    app.log.lines.length = 0;
    for (const path of ['/healthz', '/readyz']) expect((await app.send(path)).status).toBe(200);
    await app.send('/v1/models');
    await expect.poll(() => app.log.lines.length).toBeGreaterThan(0);
    expect(app.log.lines.map(({ fields }) => fields?.route)).toEqual(['/v1/models']);
    expect(await (await app.send('/metrics')).text()).toContain('route="/healthz",status="200"} 1');
  });

  test('unknown paths and methods share one label', async () => {
    const app = open();
    for (const path of ['/x1', '/x2', '/v1/x3']) await app.send(path);
    await app.send('/v1/models', { method: 'PROPFIND', headers: { 'x-api-key': KEY_A } });
    await expect.poll(() => app.log.lines.length).toBe(4);
    const text = await (await app.send('/metrics')).text();
    expect(text).toContain('http_requests_total{method="GET",route="other",status="404"} 3');
    expect(text).toContain('http_requests_total{method="other",route="other",status="405"} 1');
    expect(text).not.toContain('x3');
  });

  test('/metrics can be disabled on the main port', async () => {
    const { send } = open({ showMetrics: false });
    expect((await send('/metrics', { headers: {} })).status).toBe(404);
  });
});

describe('browsers', () => {
  const preflight = (headers?: string) =>
    open().send('/v1/models', {
      method: 'OPTIONS',
      headers: {
        origin: 'https://page.test',
        'access-control-request-method': 'POST',
        ...(headers !== undefined && { 'access-control-request-headers': headers }),
      },
    });

  test('a preflight needs no key and allows every header that the page asks for', async () => {
    const asked = [
      ...['authorization', 'content-type', 'user-agent', 'openai-beta', 'x-requested-with', 'http-referer'],
      ...[
        'x-title',
        'traceparent',
        'cache-control',
        'x-stainless-os',
        'idempotency-key',
        "odd!#$%&'*+-.^_`|~",
      ],
    ];
    const response = await preflight(asked.join(','));
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-allow-headers')?.split(', ')).toEqual(asked);
  });

  test.each([
    [undefined, null],
    ['', null],
    ['x-a,, x-b ,', 'x-a, x-b'],
    ['x-a, x y, (x), x-b:1, \u00e4', 'x-a'],
  ])('a preflight that asks for the headers %j allows %j', async (asked, allowed) => {
    const response = await preflight(asked);
    expect([response.status, response.headers.get('access-control-allow-headers')]).toEqual([204, allowed]);
  });

  test('pages can read responses and errors', async () => {
    for (const headers of [
      { origin: 'https://page.test', 'x-api-key': KEY_A },
      { origin: 'https://page.test' },
    ]) {
      const response = await open().send('/v1/models', { headers });
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      const exposed = response.headers.get('access-control-expose-headers')?.split(', ');
      expect(exposed).toEqual(expect.arrayContaining(['x-request-id', 'content-range']));
    }
  });
});

describe('browsers, when CONFIG lists origins', () => {
  const LISTED = 'https://console.test';
  const from = (origin: string | undefined, more: Record<string, string> = {}) => ({
    headers: { 'x-api-key': KEY_A, ...(origin !== undefined && { origin }), ...more },
  });
  const listed = () => open({ allowedOrigins: [LISTED], routes: [feature] });

  test.each([
    [LISTED, LISTED],
    ['https://other.test', null],
    ['https://console.test.other', null],
    ['http://console.test', null],
    ['null', null],
    [undefined, null],
  ])('a response to a page of %s can be read by %s', async (origin, allowed) => {
    const response = await listed().send('/v1/models', from(origin));
    expect(response.status).toBe(200);
    expect(response.headers.get('access-control-allow-origin')).toBe(allowed);
    expect(response.headers.get('vary')).toBe('origin');
  });

  test('a preflight of another page allows nothing', async () => {
    const asks = { 'access-control-request-method': 'POST' };
    const answers = await Promise.all(
      [LISTED, 'https://other.test'].map((origin) =>
        listed().send('/v1/models', { method: 'OPTIONS', ...from(origin, asks) }),
      ),
    );
    expect(answers.map(({ headers }) => headers.get('access-control-allow-origin'))).toEqual([LISTED, null]);
  });

  test.each([
    [LISTED, 200],
    ['http://service.test', 200],
    [undefined, 200],
    ['https://other.test', 403],
    ['null', 403],
    ['http://service.test.other', 403],
  ])('a WebSocket of a page of %s returns %i', async (origin, status) => {
    const response = await listed().send(
      '/v1/models',
      from(origin, { upgrade: 'websocket', host: 'service.test' }),
    );
    expect(response.status).toBe(status);
    if (status === 403) expect(await errorOf(response)).toMatchObject({ param: 'Origin' });
  });

  test('without a list, any page can open one', async () => {
    const response = await open().send('/v1/models', from('https://other.test', { upgrade: 'websocket' }));
    expect(response.status).toBe(200);
  });
});

interface OpenApi {
  readonly security: unknown;
  readonly tags: readonly { name: string }[];
  readonly paths: Record<
    string,
    Record<
      string,
      {
        security?: unknown;
        parameters?: { name: string; schema: unknown }[];
        responses?: Record<string, { description?: string; content?: object }>;
      }
    >
  >;
}

describe('swagger', () => {
  test('documents every route, its authentication and the rules of its fields', async () => {
    const { app, send } = open({ routes: [feature] });
    const document = (await (await send('/swagger/json', { headers: {} })).json()) as OpenApi;
    for (const { method, path } of app.routes) {
      if (path === '/v1/files/*' || /^\/(swagger\/swagger-|console\/|docs\/)/.test(path)) continue;
      const documented = document.paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
      expect(documented, `${method} ${path}`).toBeDefined();
      if (isPublic(path)) expect(documented?.security, path).toEqual([]);
      else {
        expect(documented?.security, path).toBeUndefined();
        expect(Object.keys(documented?.responses ?? {}), path).toEqual(
          expect.arrayContaining(['401', '429']),
        );
      }
    }
    const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
    for (const answer of operations.flatMap(({ responses = {} }) => Object.values(responses))) {
      expect(answer.description).toEqual(expect.any(String));
      expect(Object.keys(answer.content ?? {}).length).toBeLessThan(2);
    }
    // The app of this test has no feature routes.
    expect(document.tags.map(({ name }) => name)).toEqual(['models', 'usage', 'organization', 'service']);
    expect(document.security).toEqual([{ bearer: [] }, { apiKey: [] }, { partnerSecret: [] }]);
    const limit = document.paths['/v1/usage']?.get?.parameters?.find(({ name }) => name === 'limit');
    expect(limit?.schema).toMatchObject({ type: 'integer', minimum: 1, maximum: 100, default: 20 });
  });
});

test('the Swagger page loads nothing from another host', async () => {
  const { send } = open();
  const page = await (await send('/swagger', { headers: {} })).text();
  expect(page).toContain('swagger-page.js');
  // Relative, so that they also work behind a path prefix.
  expect(page).toContain('<a href=".">Console</a><a href="docs">Docs</a>');
  expect((await send('/swagger/swagger-page.css', { headers: {} })).headers.get('content-type')).toContain(
    'css',
  );
  expect(page).not.toMatch(/https?:/);
  const script = await send('/swagger/swagger-ui-bundle.js', { headers: {} });
  expect(script.headers.get('content-type')).toContain('javascript');
});

test.each(['%ff', '%zz', '%', '%00', 'a%00'])(
  'a path that is not valid text, such as %s, is rejected before routing',
  async (name) => {
    const response = await open({ routes: [feature] }).send(`/v1/things/${name}`, { method: 'POST' });
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      error: {
        message: 'The path must be percent-encoded UTF-8 without NUL.',
        type: 'invalid_request_error',
        param: null,
        code: null,
      },
    });
  },
);

describe('models', () => {
  test('are listed in the order of CONFIG and found by id', async () => {
    const { send } = open();
    const list = await (await send('/v1/models')).json();
    expect(list).toMatchObject({ object: 'list', data: [{ id: 'svc-tts' }, { id: 'svc-tts-fast' }] });
    const model = await (await send('/v1/models/svc-tts')).json();
    expect(model).toEqual({
      id: 'svc-tts',
      object: 'model',
      created: 1_767_323_045,
      owned_by: 'system',
      task: 'speech',
    });
  });

  test('an unknown one is 404 model_not_found', async () => {
    const response = await open().send('/v1/models/gpt-9');
    expect(response.status).toBe(404);
    const error = await errorOf(response);
    expect(error).toMatchObject({ code: 'model_not_found', param: 'model' });
    expect(error.message).toContain('svc-tts');
  });
});

describe('rate limits', () => {
  test('count a request by its key and organization, and return the time to wait', async () => {
    const users: unknown[] = [];
    const requestLimits = {
      async countRequest(user: unknown) {
        users.push(user);
        if (users.length > 1) {
          throw new ServiceError('rate_limited', 'Too many.', {
            code: 'rate_limit_exceeded',
            retryAfterS: 7,
          });
        }
      },
    };
    const limited = testApp({ requestLimits });
    try {
      expect((await limited.send('/v1/models')).status).toBe(200);
      const refused = await limited.send('/v1/models');
      expect(refused.status).toBe(429);
      expect(refused.headers.get('retry-after')).toBe('7');
      expect(await errorOf(refused)).toMatchObject({ code: 'rate_limit_exceeded' });
      expect(users).toEqual(
        new Array(2).fill(
          expect.objectContaining({ organization: 'a', keyId: expect.stringMatching(/^[0-9a-f]{16}$/) }),
        ),
      );
      // Requests that need no key are not counted.
      expect((await limited.send('/healthz', { headers: {} })).status).toBe(200);
      expect(users).toHaveLength(2);
    } finally {
      limited.close();
    }
  });
});
