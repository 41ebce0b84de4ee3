import { Elysia } from 'elysia';
import { afterEach, describe, expect, it } from 'vitest';
import { RecordingTracer } from '../../../test/doubles/recording-tracer.ts';
import { KEY_A, type TestApp, testApp } from '../../../test/harness/test-app.ts';
import { started } from '../../kit/async/started.ts';
import { streamedBody } from '../response/streamed-body.ts';

const opened: TestApp[] = [];
afterEach(() => {
  for (const app of opened.splice(0)) app.close();
});

function traced() {
  const tracer = new RecordingTracer();
  const chunks = async function* () {
    for (const name of ['first', 'second', 'third']) {
      await Promise.resolve();
      tracer.startSpan(name).end();
      yield new TextEncoder().encode(name);
    }
  };
  const routes = new Elysia({ name: 'routes' })
    .get('/v1/things/:id', async () => {
      await Promise.resolve();
      tracer.startSpan('work').end();
      return 'done';
    })
    .get('/v1/broken', () => {
      throw new Error('a private word');
    })
    .get('/v1/stream', ({ request }) => new Response(streamedBody(chunks(), new AbortController(), request)))
    .get('/v1/started', async ({ request }) => {
      const body = (await started(chunks())) ?? chunks();
      return new Response(streamedBody(body, new AbortController(), request));
    })
    .get('/v1/cut', ({ request }) => {
      const chunks = async function* () {
        yield new TextEncoder().encode('first');
        throw new TypeError('a private word');
      };
      return new Response(streamedBody(chunks(), new AbortController(), request));
    });
  const app = testApp({ tracer, routes: [routes] });
  opened.push(app);
  return { tracer, app };
}

/** The span of the only request, after it ended. */
async function requestSpan(tracer: RecordingTracer) {
  await expect.poll(() => tracer.spans[0]?.ended).toBe(true);
  return tracer.spans[0];
}

it('a request has a span with its route as name, its status and its id', async () => {
  const { tracer, app } = traced();
  const response = await app.send('/v1/things/7');
  expect(await requestSpan(tracer)).toMatchObject({
    name: 'GET /v1/things/:id',
    kind: 'server',
    parent: undefined,
    failure: undefined,
    attributes: {
      'http.request.method': 'GET',
      'http.route': '/v1/things/:id',
      'http.response.status_code': 200,
      request_id: response.headers.get('x-request-id'),
    },
  });
  expect(tracer.tree()).toEqual(['GET /v1/things/:id', '  work']);
});

it('continues the trace of the caller', async () => {
  const { tracer, app } = traced();
  const headers = { authorization: `Bearer ${KEY_A}`, traceparent: 'theirs' };
  await app.send('/v1/things/7', { headers });
  expect(await requestSpan(tracer)).toMatchObject({ parent: 'theirs' });
});

describe('the span of a streamed response', () => {
  /** The span and the response after the response headers were sent. */
  async function begun(path: string, init?: RequestInit) {
    const { tracer, app } = traced();
    const response = await app.send(path, init);
    await expect.poll(() => tracer.spans[0]?.name).toBe(`GET ${path}`);
    expect(tracer.spans[0]?.ended).toBe(false);
    return { tracer, response };
  }

  it.each(['/v1/stream', '/v1/started'])(
    'lasts until the complete body of %s is sent, and is the parent of its work',
    async (path) => {
      const { tracer, response } = await begun(path);
      expect(await response.text()).toBe('firstsecondthird');
      const span = await requestSpan(tracer);
      expect(span?.failure).toBeUndefined();
      expect(span?.attributes).not.toHaveProperty('client_disconnected');
      expect(tracer.tree()).toEqual([`GET ${path}`, '  first', '  second', '  third']);
    },
  );

  it('ends when the client disconnects, with an attribute', async () => {
    const { tracer, response } = await begun('/v1/stream');
    await response.body?.cancel();
    expect(await requestSpan(tracer)).toMatchObject({
      failure: undefined,
      attributes: { client_disconnected: true },
    });
  });

  it('ends when the client disconnects before it reads the body', async () => {
    const caller = new AbortController();
    const { tracer } = await begun('/v1/stream', {
      headers: { authorization: `Bearer ${KEY_A}` },
      signal: caller.signal,
    });
    caller.abort();
    expect(await requestSpan(tracer)).toMatchObject({ attributes: { client_disconnected: true } });
  });

  it('ends with the error of the body', async () => {
    const { tracer, response } = await begun('/v1/cut');
    await expect(response.text()).rejects.toThrow();
    expect((await requestSpan(tracer))?.failure).toBeInstanceOf(TypeError);
  });
});

it.each([
  ['/v1/nothing', 404, undefined],
  ['/v1/broken', 500, '500'],
])('the span of %s ends with status %d', async (path, status, failure) => {
  const { tracer, app } = traced();
  await app.send(path);
  expect(await requestSpan(tracer)).toMatchObject({
    failure,
    attributes: { 'http.response.status_code': status },
  });
  expect(JSON.stringify(tracer.spans)).not.toMatch(/nothing|private/);
});
