import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { BATCHES, batchApp } from '../../../test/harness/batch-app.ts';
import { KEY_A, KEY_B } from '../../../test/harness/test-app.ts';

const NOW = 1_767_323_045;

/** OpenAI's client over the app. Counts its requests. */
async function clientOf(options: Parameters<typeof batchApp>[0] = {}) {
  const app = await batchApp(options);
  const sent: string[] = [];
  const client = new OpenAI({
    apiKey: KEY_A,
    baseURL: 'http://service.test/v1',
    fetch: (url, init) => {
      const { pathname, search } = new URL(String(url));
      sent.push(`${init?.method} ${pathname}`);
      return app.app.send(`${pathname}${search}`, init);
    },
  });
  return { ...app, client, sent };
}

describe('a batch', () => {
  it('has every field; fields without a value are null', async () => {
    const { create, send, queued } = await batchApp();
    const batch = await create({ endpoint: '/v1/chat/completions', metadata: { topic: 'birds' } });
    expect(batch).toEqual({
      id: expect.stringMatching(/^batch_[0-9a-f]{32}$/),
      object: 'batch',
      endpoint: '/v1/chat/completions',
      model: null,
      errors: null,
      input_file_id: expect.stringMatching(/^file-/),
      completion_window: '24h',
      status: 'validating',
      output_file_id: null,
      error_file_id: null,
      created_at: NOW,
      in_progress_at: null,
      expires_at: NOW + 86_400,
      finalizing_at: null,
      completed_at: null,
      failed_at: null,
      expired_at: null,
      cancelling_at: null,
      cancelled_at: null,
      request_counts: { total: 0, completed: 0, failed: 0 },
      usage: null,
      metadata: { topic: 'birds' },
    });
    expect(await (await send(`${BATCHES}/${batch.id}`)).json()).toEqual(batch);
    expect(queued).toEqual([batch.id]);
  });

  it.each(['database', 'blobs'] as const)(
    'says that it waits for space while the %s store is full',
    async (full) => {
      let isFull = false;
      const { create, send, complete } = await batchApp({ isFull: (place) => isFull && place === full });
      const [waiting, done] = [await create(), await create()];
      await complete(done.id, NOW);
      expect(waiting).not.toHaveProperty('status_detail');
      isFull = true;
      const { data } = (await (await send(BATCHES)).json()) as { data: Record<string, unknown>[] };
      expect(data.map(({ id, status_detail }) => [id, status_detail])).toEqual([
        [done.id, undefined],
        [waiting.id, 'Server storage is full. The batch waits for space and then continues.'],
      ]);
      expect(await (await send(`${BATCHES}/${waiting.id}`)).json()).toMatchObject({
        status: 'validating',
        status_detail: expect.stringContaining('storage is full'),
      });
    },
  );

  it('shows counts, tokens, model and errors after it ran', async () => {
    const { create, send, store } = await batchApp();
    const [ran, rejected] = [await create(), await create()];
    await store.claim(ran.id, 'r');
    await store.startProcessing(ran.id, 'r', { total: 3, model: 'm', at: NOW + 1 });
    const progress = { offsetBytes: 9, line: 3, ahead: [] };
    const tokens = { input: 7, output: 5 };
    await store.checkpoint(ran.id, 'r', { progress, parts: [], completed: 1, failed: 1, tokens, bills: [] });
    expect(await (await send(`${BATCHES}/${ran.id}`)).json()).toMatchObject({
      status: 'in_progress',
      in_progress_at: NOW + 1,
      model: 'm',
      request_counts: { total: 3, completed: 1, failed: 1 },
      usage: {
        input_tokens: 7,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: 5,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 12,
      },
    });
    await store.claim(rejected.id, 'r');
    const errors = [{ code: 'empty_file', message: 'It has no line.', param: null, line: null }];
    await store.fail(rejected.id, 'r', errors, NOW + 2);
    expect(await (await send(`${BATCHES}/${rejected.id}`)).json()).toMatchObject({
      status: 'failed',
      failed_at: NOW + 2,
      errors: { object: 'list', data: errors },
    });
  });
});

describe('create', () => {
  it.each([
    ['input_file_id', {}, { endpoint: '/v1/embeddings' }, 'missing_required_parameter'],
    ['input_file_id', {}, { endpoint: '/v1/embeddings', input_file_id: 7 }, 'invalid_type'],
    ['input_file_id', {}, { endpoint: '/v1/embeddings', input_file_id: 'file-none' }, 'invalid_value'],
    ['endpoint', { endpoint: '/v1/completions' }, undefined, 'invalid_value'],
    ['endpoint', { endpoint: null }, undefined, 'missing_required_parameter'],
    ['completion_window', { completion_window: '48h' }, undefined, 'invalid_value'],
    ['metadata', { metadata: 'birds' }, undefined, 'invalid_type'],
    ['metadata', { metadata: pairs(17) }, undefined, 'invalid_value'],
    ['metadata', { metadata: { ['k'.repeat(65)]: 'v' } }, undefined, 'string_above_max_length'],
    ['metadata.k', { metadata: { k: 'v'.repeat(513) } }, undefined, 'string_above_max_length'],
    ['metadata.k', { metadata: { k: 1 } }, undefined, 'invalid_type'],
    ['output_expires_after.seconds', expiring({ seconds: 3599 }), undefined, 'invalid_value'],
    ['output_expires_after.seconds', expiring({ seconds: 2_592_001 }), undefined, 'invalid_value'],
    ['output_expires_after.anchor', expiring({ anchor: 'now' }), undefined, 'invalid_value'],
    ['metdata', { metdata: {} }, undefined, 'unknown_parameter'],
  ])('rejects an invalid %s: %j', async (param, fields, instead, code) => {
    const { post, putFile, queued } = await batchApp();
    const { id } = await putFile();
    const response = await post(instead ?? { input_file_id: id, endpoint: '/v1/embeddings', ...fields });
    expect(response.status).toBe(400);
    const { error } = await response.json();
    expect(error).toMatchObject({ type: 'invalid_request_error', param, code });
    expect(error.message).toContain(`'${param.split('.')[0]}`);
    expect(queued).toEqual([]);
  });

  it('ignores fields and query parameters of other servers, and blank values', async () => {
    const { create, send } = await batchApp();
    const others = { user: 'u', client_metadata: {}, priority: 1, ...expiring({ more: 1 }) };
    const batch = await create({ ...others, completion_window: '', metadata: '' });
    expect(batch).toMatchObject({ completion_window: '24h', metadata: null });
    for (const path of ['', `/${batch.id}`]) {
      const response = await send(`${BATCHES}${path}?api-version=2026-01-01&provider=x&api-version=1`);
      expect(response.status).toBe(200);
    }
  });

  it('accepts every field at its limit, and null for optional fields', async () => {
    const { create, store } = await batchApp();
    const metadata = { ...pairs(15), ['k'.repeat(64)]: 'v'.repeat(512) };
    const batch = await create({ ...expiring({ seconds: 2_592_000 }), metadata, completion_window: '24h' });
    expect(batch.metadata).toEqual(metadata);
    expect(await store.get('a', batch.id)).toMatchObject({ outputExpiresAfterS: 2_592_000 });
    const plain = { completion_window: null, metadata: null, output_expires_after: null };
    expect(await create(plain)).toMatchObject({ completion_window: '24h', metadata: null });
  });

  it('rejects files of other organizations and result files', async () => {
    const { post, putFile } = await batchApp();
    for (const overrides of [{ organization: 'b' }, { purpose: 'batch_output' }] as const) {
      const { id } = await putFile(overrides);
      const response = await post({ input_file_id: id, endpoint: '/v1/embeddings' });
      expect(response.status).toBe(400);
      expect((await response.json()).error.param).toBe('input_file_id');
    }
  });

  it('rejects a batch that exceeds the limit of open batches', async () => {
    const { create, post, putFile } = await batchApp({ openPerOrganization: 2 });
    await create();
    await create();
    await create({}, { key: KEY_B });
    const { id } = await putFile();
    const response = await post({ input_file_id: id, endpoint: '/v1/embeddings' });
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
    expect((await response.json()).error).toMatchObject({
      type: 'rate_limit_error',
      code: 'rate_limit_exceeded',
      message: expect.stringContaining('at most 2'),
    });
  });

  it('returns the earlier batch for a repeated idempotency key', async () => {
    const { post, putFile, queued } = await batchApp();
    const { id } = await putFile();
    const params = { input_file_id: id, endpoint: '/v1/embeddings', metadata: { a: '1', b: '2' } };
    const again = (body: object, key = 'k1') => post(body, { headers: { 'idempotency-key': key } });
    const first = await (await again(params)).json();
    // The same request with another field order and an explicit default.
    const same = { completion_window: '24h', ...params, metadata: { b: '2', a: '1' } };
    expect(await (await again(same)).json()).toEqual(first);
    expect(new Set(queued)).toEqual(new Set([first.id]));
    for (const other of [
      { ...params, metadata: null },
      { ...params, endpoint: '/v1/responses' },
      { ...params, ...expiring() },
    ]) {
      const conflict = await again(other);
      expect(conflict.status).toBe(409);
      expect(conflict.headers.get('x-should-retry')).toBe('false');
      expect((await conflict.json()).error.code).toBe('idempotency_conflict');
    }
    expect((await (await again(params, 'k2')).json()).id).not.toBe(first.id);
    for (const key of ['', 'k'.repeat(256)]) {
      const rejected = await again(params, key);
      expect(rejected.status).toBe(400);
      expect((await rejected.json()).error.param).toBe('Idempotency-Key');
    }
  });

  it('succeeds while the queue is unavailable, because the batch is stored', async () => {
    const { create, store, log } = await batchApp({ queueFailure: () => new Error('queue unavailable') });
    const { id } = await create();
    expect(await store.listOpen(5)).toEqual([id]);
    expect(log.lines).toMatchObject([{ level: 'error', fields: { batch: id } }]);
  });

  it('requires a JSON object', async () => {
    const { send } = await batchApp();
    const post = (body: string | undefined, type: string) =>
      send(BATCHES, {
        method: 'POST',
        headers: { 'content-type': type },
        ...(body !== undefined && { body }),
      });
    expect((await post('{', 'application/json')).status).toBe(400);
    expect((await post('[]', 'application/json')).status).toBe(400);
    expect((await post(undefined, 'application/json')).status).toBe(400);
    expect((await post('a=b', 'text/plain')).status).toBe(415);
  });

  it('rejects a form', async () => {
    const { create, send } = await batchApp();
    const form = new FormData();
    form.append('input_file_id', (await create()).input_file_id);
    form.append('endpoint', '/v1/embeddings');
    const response = await send(BATCHES, { method: 'POST', body: form });
    expect(response.status).toBe(415);
    expect((await response.json()).error.message).toContain("'application/json'");
  });
});

describe('cancel', () => {
  it('accepts a validating or running batch, repeatedly and without a body', async () => {
    const { create, send, clock } = await batchApp();
    const { id } = await create();
    clock.advance(5000);
    for (let times = 0; times < 2; times += 1) {
      const response = await send(`${BATCHES}/${id}/cancel`, { method: 'POST' });
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ id, status: 'cancelling', cancelling_at: NOW + 5 });
      clock.advance(1000);
    }
  });

  it('is sent once for a finished batch, because the error is not retryable', async () => {
    const { create, complete, client, sent } = await clientOf();
    const { id } = await create();
    await complete(id, NOW + 1);
    const cancelled = client.batches.cancel(id);
    await expect(cancelled).rejects.toBeInstanceOf(OpenAI.ConflictError);
    await expect(cancelled).rejects.toMatchObject({
      message: expect.stringContaining("Cannot cancel a batch with status 'completed'."),
    });
    expect(sent).toEqual([`POST ${BATCHES}/${id}/cancel`]);
  });
});

describe('the list', () => {
  it('can be paged with the SDK, newest first', async () => {
    const { create, client } = await clientOf();
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) ids.unshift((await create()).id);
    await create({}, { key: KEY_B });
    const seen: string[] = [];
    for await (const { id } of client.batches.list({ limit: 2 })) seen.push(id);
    expect(seen).toEqual(ids);
  });

  it('has the common list envelope', async () => {
    const { create, send } = await batchApp();
    const list = async (query = '') => (await send(`${BATCHES}${query}`)).json();
    const nothing = { object: 'list', data: [], first_id: null, last_id: null, has_more: false };
    expect(await list()).toEqual(nothing);
    const batches: { id: string }[] = [];
    for (let count = 0; count < 21; count += 1) batches.unshift(await create());
    expect(await list()).toEqual({
      object: 'list',
      data: batches.slice(0, 20),
      first_id: batches[0]?.id,
      last_id: batches[19]?.id,
      has_more: true,
    });
    expect(await list(`?limit=100&after=${batches[19]?.id}`)).toMatchObject({ has_more: false });
  });

  it.each([
    ['limit', '?limit=0'],
    ['limit', '?limit=101'],
    ['limit', '?limit=many'],
    ['after', '?after=batch_none'],
  ])('rejects an invalid %s: %s', async (param, query) => {
    const { send } = await batchApp();
    const response = await send(`${BATCHES}${query}`);
    expect(response.status).toBe(400);
    expect((await response.json()).error.param).toBe(param);
  });
});

it('returns 404 for batches of other organizations', async () => {
  const { create, send } = await batchApp();
  const { id } = await create({}, { key: KEY_B });
  for (const [path, method] of [
    [`${BATCHES}/${id}`, 'GET'],
    [`${BATCHES}/${id}/cancel`, 'POST'],
    [`${BATCHES}/batch_none`, 'GET'],
    [`${BATCHES}/batch_none/cancel`, 'POST'],
  ] as const) {
    const response = await send(path, { method });
    expect(response.status).toBe(404);
    expect((await response.json()).error).toMatchObject({ type: 'invalid_request_error', param: 'id' });
  }
  expect((await (await send(`${BATCHES}?after=${id}`)).json()).error.param).toBe('after');
  expect((await (await send(BATCHES)).json()).data).toEqual([]);
});

function pairs(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 'v']));
}

function expiring(overrides: object = {}) {
  return { output_expires_after: { anchor: 'created_at', seconds: 3600, ...overrides } };
}

it.each([
  ['/v1/batches', 'post', [200, 400, 401, 409, 413, 415, 429, 503]],
  ['/v1/batches', 'get', [200, 400, 401, 429, 503]],
  ['/v1/batches/{id}', 'get', [200, 400, 401, 404, 429, 503]],
  ['/v1/batches/{id}/cancel', 'post', [200, 400, 401, 404, 409, 413, 415, 429, 503]],
])('the OpenAPI document lists every response of %s %s', async (path, method, statuses) => {
  const { send } = await batchApp();
  const { paths } = await (await send('/swagger/json')).json();
  expect(Object.keys(paths[path][method].responses).map(Number)).toEqual(statuses);
  const form = paths[path][method].requestBody?.content['multipart/form-data'];
  expect(form).toBeUndefined();
});
