import { type Static, Type } from '@sinclair/typebox';
import { describe, expect, test, vi } from 'vitest';
import { mounted } from '../../test/harness/mounted.ts';
import { KEY_A, testApp } from '../../test/harness/test-app.ts';
import { invalidRequest } from '../contract/core/error.ts';
import type { Exchange, Route } from '../contract/route.ts';
import { checkedResponse } from './openapi/operation.ts';
import { idParameter, jsonResponse, queryParameter } from './openapi/route-docs.ts';
import { bind, route, strictBody } from './route.ts';

const DOCS = { summary: 'Things', description: 'All things.', tag: 'service' } as const;
const Thing = Type.Object({ name: Type.String({ minLength: 1 }) }, { additionalProperties: false });

function exchange(more: Partial<Exchange> & { headers?: Record<string, string> } = {}): Exchange {
  const { headers = {}, ...rest } = more;
  const request = new Request('http://service.test/', { headers });
  return { request, params: {}, body: null, set: { headers: {} }, ...rest };
}

function operationOf({ operation }: Route) {
  return operation as Record<string, unknown> & { responses: Record<string, { description: string }> };
}

describe('the handler', () => {
  test('gets the parameters of the path, the valid query and the valid body', async () => {
    const update = route({
      ...DOCS,
      method: 'PUT',
      path: '/v1/shelves/:shelf/things/:id',
      query: { parameters: [], read: ({ url }) => new URL(url).searchParams.get('color') ?? 'red' },
      body: strictBody<Static<typeof Thing>>(Thing),
      responses: {},
      handle: ({ params, query, body }) => ({ ...params, query, ...body }),
    });
    const request = new Request('http://service.test/v1/shelves/a%20b/things/7?color=blue', {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: '{"name":"cup"}',
    });
    const answer = await mounted([update]).handle(request);
    expect(await answer.json()).toEqual({ shelf: 'a b', id: '7', query: 'blue', name: 'cup' });
  });

  test.each([
    [{ 'idempotency-key': '' }, 'Idempotency-Key'],
    [{}, 'color'],
  ])(
    'is not called for an invalid request; the key is checked before the query, the query before the body',
    async (headers, param) => {
      const handle = vi.fn();
      const create = route({
        ...DOCS,
        method: 'POST',
        path: '/v1/things',
        idempotent: 'The first thing is returned.',
        query: {
          parameters: [],
          read() {
            throw invalidRequest('No such color.', 'color');
          },
        },
        body: strictBody(Thing),
        responses: {},
        handle,
      });
      await expect(create.handle(exchange({ headers, body: {} }), undefined)).rejects.toMatchObject({
        param,
      });
      expect(handle).not.toHaveBeenCalled();
    },
  );

  test.each([
    ['The first thing is returned.', 'k'],
    [undefined, undefined],
  ])('gets the idempotency key only if the route is idempotent', async (idempotent, seen) => {
    const create = route({
      ...DOCS,
      method: 'POST',
      path: '/v1/things',
      ...(idempotent !== undefined && { idempotent }),
      responses: {},
      handle: ({ idempotencyKey }) => idempotencyKey,
    });
    expect(await create.handle(exchange({ headers: { 'idempotency-key': 'k' } }), undefined)).toBe(seen);
  });

  test('gets what its routes are bound to', async () => {
    const list = route({
      ...DOCS,
      method: 'GET',
      path: '/v1/things',
      responses: {},
      handle: (_, { things }: { things: readonly string[] }) => things,
    });
    const [bound] = bind([list], { things: ['cup'] });
    expect(await bound?.handle(exchange(), undefined)).toEqual(['cup']);
    expect(bound?.path).toBe('/v1/things');
  });

  test('may set status and headers', async () => {
    const read = route({
      ...DOCS,
      method: 'GET',
      path: '/v1/things',
      responses: {},
      handle({ set }) {
        set.status = 503;
        set.headers['x-things'] = '1';
        return {};
      },
    });
    const answer = await mounted([read]).handle(new Request('http://service.test/v1/things'));
    expect([answer.status, answer.headers.get('x-things')]).toEqual([503, '1']);
  });
});

test('a response that violates its schema is an error 500 without its content', async () => {
  const read = route({
    ...DOCS,
    method: 'GET',
    path: '/v1/things/:id',
    responses: { 200: checkedResponse(Thing) },
    handle: ({ params }) => (params.id === '1' ? { name: 'cup' } : { size: 'a private text' }),
  });
  const { send, close } = testApp({ routes: [[read]] });
  expect(await (await send('/v1/things/1')).json()).toEqual({ name: 'cup' });
  const broken = await send('/v1/things/2');
  expect(broken.status).toBe(500);
  expect(await broken.text()).not.toContain('private');
  close();
});

test('over HTTP, an invalid body has the error of its first invalid field, and another method is not allowed', async () => {
  const create = route({
    ...DOCS,
    method: 'POST',
    path: '/v1/things',
    body: strictBody(Thing),
    responses: {},
    handle: () => ({}),
  });
  const { send, close } = testApp({ routes: [[create]] });
  const headers = { 'x-api-key': KEY_A, 'content-type': 'application/json' };
  const invalid = await send('/v1/things', { method: 'POST', headers, body: '{"nane":"cup"}' });
  expect(invalid.status).toBe(400);
  expect(await invalid.json()).toMatchObject({
    error: { param: 'name', code: 'missing_required_parameter' },
  });
  const other = await send('/v1/things');
  expect([other.status, other.headers.get('allow')]).toEqual([405, 'POST']);
  close();
});

describe('a strict body', () => {
  const read = (body: object | null, schema: Parameters<typeof strictBody>[0] = Thing) =>
    strictBody(schema).read?.(body, new Request('http://service.test'));

  test.each([
    [{ name: 'cup', size: 1 }, "'size' is unknown; allowed: name.", 'unknown_parameter'],
    [{ name: 5 }, "'name' must be a string that is not empty.", 'invalid_type'],
    [null, 'The request body must be an object.', 'invalid_type'],
  ])('%o is refused', (body, message, code) => {
    expect(() => read(body)).toThrow(expect.objectContaining({ message, code }));
  });

  test('may be empty if no field is required', () => {
    expect(read(null, Type.Object({ name: Type.Optional(Type.String()) }))).toEqual({});
  });
});

describe('the operation', () => {
  test('has the parameters in the order path, query, headers, and the responses that all routes share', () => {
    const operation = operationOf(
      route({
        ...DOCS,
        method: 'POST',
        path: '/v1/things/:id',
        pathParameters: [idParameter('id', 'thing_1')],
        query: { parameters: [queryParameter('color', { type: 'string' }, 'Color.')], read: () => ({}) },
        idempotent: 'The first thing is returned.',
        body: strictBody(Thing),
        responses: { 200: jsonResponse('The thing', Thing), 404: 'No such thing', 429: 'Too many things' },
        handle: () => ({}),
      }),
    );
    expect(operation).toMatchObject({ summary: 'Things', tags: ['service'] });
    expect(operation.parameters).toMatchObject([
      { name: 'id', in: 'path' },
      { name: 'color', in: 'query' },
      { name: 'Idempotency-Key', in: 'header' },
    ]);
    expect(Object.keys(operation.responses)).toEqual(['200', '400', '401', '404', '413', '415', '429']);
    expect(operation.responses['429']).toMatchObject({
      description: 'Too many things',
      content: { 'application/json': { example: { error: { code: 'rate_limit_exceeded' } } } },
    });
    expect(operation.requestBody).toMatchObject({
      required: true,
      content: { 'application/json': { example: { name: '' } } },
    });
  });

  test('of a public route has no security, and of a hidden one does not exist', () => {
    const page = { method: 'GET', path: '/page', isPublic: true, handle: () => 'page' } as const;
    const shown = route({ ...page, ...DOCS, responses: {} });
    expect(shown.isPublic).toBe(true);
    expect(operationOf(shown)).toMatchObject({ security: [], responses: {} });
    expect(route({ ...page, isHidden: true }).operation).toBeUndefined();
  });

  test('has the largest upload, and whether a WebSocket can be opened', () => {
    const upload = route({
      ...DOCS,
      method: 'POST',
      path: '/v1/things',
      upload: { maxBytes: 7 },
      body: { form: Thing },
      responses: {},
      handle: () => ({}),
    });
    expect(upload.uploadBytes).toBe(7);
    expect(operationOf(upload)['x-upload-max-bytes']).toBe(7);
    const socket = { ...DOCS, method: 'GET', path: '/v1/socket', opensSocket: true, responses: {} } as const;
    expect(operationOf(route({ ...socket, handle: () => ({}) }))['x-websocket']).toBe(true);
  });
});
