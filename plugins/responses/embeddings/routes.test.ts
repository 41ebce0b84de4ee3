import OpenAI from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/contract/core/error.ts';
import { bind } from '../../../src/http/route.ts';
import { OpenRequests } from '../../../src/kit/limits/open-requests.ts';
import {
  FakeEmbedEngine,
  type FakeEmbedOptions,
  fakeVector,
} from '../../../test/doubles/fake-embed-engine.ts';
import { KEY_ID_A, type TestApp, testApp } from '../../../test/harness/test-app.ts';
import { RecordedCalls, type RecordedCallsOptions } from '../../../tools/harness/doubles/recorded-calls.ts';
import { EMBEDDING_ROUTES } from './routes.ts';
import { EmbeddingService } from './service.ts';

const MODEL = 'all-minilm-l6-v2';
let apps: TestApp[] = [];
afterEach(() => {
  for (const app of apps) app.close();
  apps = [];
});

/** The routes with a fake engine in the real app. */
function setUp(
  options: FakeEmbedOptions = {},
  more: { perOrganization?: number } & RecordedCallsOptions = {},
) {
  const engine = new FakeEmbedEngine(options);
  const calls = new RecordedCalls(more);
  const open = new OpenRequests('text', more.perOrganization ?? 100);
  const embeddings = new EmbeddingService({
    embed: { ids: [MODEL], get: (id) => (id === MODEL ? engine : undefined) },
    open,
  });
  const routes = bind(EMBEDDING_ROUTES, { embeddings, calls });
  const app = testApp({ routes: [routes], requestBytes: 8 * 1024 * 1024 });
  apps.push(app);
  const post = (fields: object, signal?: AbortSignal, key = 'key-of-a') =>
    app.send('/v1/embeddings', {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ model: MODEL, ...fields }),
      ...(signal ? { signal } : {}),
    });
  const client = new OpenAI({
    apiKey: 'key-of-a',
    baseURL: 'http://service.test/v1',
    maxRetries: 0,
    fetch: (url, init) => Promise.resolve(app.app.handle(new Request(url as string, init as RequestInit))),
  });
  return { engine, open, calls, app, post, client };
}

async function listOf(answer: Promise<Response>) {
  return (await (await answer).json()) as { data: { index: number; embedding: unknown }[] };
}

async function errorOf(response: Response) {
  return (await response.json()) as { error: { message: string; code: string } };
}

it('ignores fields of other servers, and rejects misspelt ones', async () => {
  const { post } = setUp();
  const others = {
    user: 'u',
    metadata: {},
    input_type: 'query',
    truncate: 'END',
    encoding_format: '',
    dimensions: '',
  };
  expect((await post({ input: 'a', ...others })).status).toBe(200);
  const response = await post({ input: 'a', dimension: 2 });
  expect(response.status).toBe(400);
  expect((await errorOf(response)).error).toMatchObject({
    param: 'dimension',
    code: 'unknown_parameter',
    message: expect.stringContaining("'dimensions'"),
  });
});

describe('token ids', () => {
  const ids = [791, 8415];
  it('are those of cl100k_base, and the model gets the text', async () => {
    const { engine, post, calls } = setUp({ tokenIds: 'cl100k_base' });
    const list = await listOf(post({ input: [ids, ids] }));
    expect(list).toEqual(await listOf(post({ input: ['The cat', 'The cat'] })));
    expect(engine.requests.map(({ inputs }) => inputs)).toEqual([
      ['The cat', 'The cat'],
      ['The cat', 'The cat'],
    ]);
    expect(calls.openings[0]?.maxUsage).toEqual(calls.openings[1]?.maxUsage);
  });

  it('are those of the model if CONFIG says so', async () => {
    const { engine, post } = setUp({ tokenIds: 'model' });
    expect((await post({ input: ids })).status).toBe(200);
    expect(engine.requests[0]?.inputs).toEqual([ids]);
  });

  it('are rejected if they are unknown', async () => {
    const { post, calls } = setUp({ tokenIds: 'cl100k_base' });
    const response = await post({ input: [ids, [100_300]] });
    expect(response.status).toBe(400);
    expect((await errorOf(response)).error.message).toContain("'input.1' contains 100300");
    expect(calls.rows).toEqual([]);
  });
});

describe('the response', () => {
  it('lists float vectors in the order of the inputs', async () => {
    const { post, calls } = setUp();
    const response = await post({ input: ['one', 'three'] });
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toEqual({
      object: 'list',
      data: ['one', 'three'].map((text, index) => ({
        object: 'embedding',
        index,
        embedding: Array.from(fakeVector(text)),
      })),
      model: MODEL,
      usage: { prompt_tokens: 3, total_tokens: 3 },
    });
    expect(calls.rows).toMatchObject([
      {
        endpoint: 'POST /v1/embeddings',
        organization: 'a',
        model: MODEL,
        status: 'completed',
        inputTokens: 3,
        outputTokens: 0,
      },
    ]);
  });

  it('contains little-endian 32-bit floats in base64 on request', async () => {
    const { post } = setUp();
    const { data } = await listOf(post({ input: 'one', encoding_format: 'base64' }));
    const bytes = Buffer.from(data[0]?.embedding as string, 'base64');
    expect(bytes).toHaveLength(16);
    const numbers = [0, 4, 8, 12].map((at) => bytes.readFloatLE(at));
    expect(numbers).toEqual(Array.from(fakeVector('one')));
  });

  it('is complete for many inputs', async () => {
    const { post, client } = setUp();
    const input = Array.from({ length: 2048 }, (_, at) => `text ${at}`);
    const { data } = await listOf(post({ input, dimensions: 64 }));
    expect(data).toHaveLength(2048);
    expect(data[2047]).toEqual({
      object: 'embedding',
      index: 2047,
      embedding: Array.from(fakeVector('text 2047', 64)),
    });
    const { data: same } = await client.embeddings.create({ model: MODEL, input, dimensions: 64 });
    expect(same[2047]).toEqual(data[2047]);
  });

  it('follows the stored usage row', async () => {
    const gate = Promise.withResolvers<void>();
    const { post, calls } = setUp({}, { storing: () => gate.promise });
    const answer = post({ input: 'one' });
    let came = false;
    void answer.then(() => {
      came = true;
    });
    await expect.poll(() => calls.openings.length).toBe(1);
    expect(came).toBe(false);
    gate.resolve();
    await answer;
    expect(calls.rows).toHaveLength(1);
  });
});

it('the request is passed to the engine', async () => {
  const { post, engine } = setUp();
  await post({ input: [[1, 2], [3]], dimensions: 3, user: 'ann', unknown: 1 });
  await post({ input: [5, 6, 7] });
  await post({ input: 'text', dimensions: null, encoding_format: null });
  expect(engine.requests).toEqual([
    { inputs: [[1, 2], [3]], dimensions: 3, priority: 'interactive', fairnessKey: KEY_ID_A },
    { inputs: [[5, 6, 7]], dimensions: undefined, priority: 'interactive', fairnessKey: KEY_ID_A },
    { inputs: ['text'], dimensions: undefined, priority: 'interactive', fairnessKey: KEY_ID_A },
  ]);
});

it.each([
  [{}, 'input'],
  [{ input: '' }, 'input'],
  [{ input: 5 }, 'input'],
  [{ input: {} }, 'input'],
  [{ input: [] }, 'input'],
  [{ input: new Array(2049).fill('a') }, 'input'],
  [{ input: ['a', ''] }, 'input.1'],
  [{ input: ['a', 5] }, 'input.1'],
  [{ input: ['a', null] }, 'input.1'],
  [{ input: [1, 'a'] }, 'input'],
  [{ input: [1, -1] }, 'input'],
  [{ input: [1.5] }, 'input'],
  [{ input: [[1], []] }, 'input.1'],
  [{ input: [[1], 'a'] }, 'input.1'],
  [{ input: [new Array(8193).fill(1)] }, 'input.0'],
  [{ input: new Array(40).fill(new Array(8000).fill(1)) }, 'input'],
  [{ input: 'x'.repeat(1_200_004) }, 'input'],
  [{ input: 'a', encoding_format: 'int8' }, 'encoding_format'],
  [{ input: 'a', dimensions: 0 }, 'dimensions'],
  [{ input: 'a', dimensions: 1.5 }, 'dimensions'],
  [{ input: 'a', model: 'other' }, 'model'],
  [{ input: 'a', model: undefined }, 'model'],
])('an invalid field is rejected by name (%#)', async (fields, param) => {
  const { post, engine, calls } = setUp();
  const response = await post(fields);
  expect(response.status).toBe(400);
  const { error } = await errorOf(response);
  expect(error).toMatchObject({ type: 'invalid_request_error', param });
  expect(error.message).toContain(param === 'model' ? 'model' : `'${param}'`);
  expect(engine.requests).toEqual([]);
  expect(calls.openings).toEqual([]);
});

describe('the reservation', () => {
  it('is an upper bound of the tokens of any model', async () => {
    const { post, calls } = setUp();
    await post({ input: ['añb', '日本'] });
    expect(calls.openings[0]?.maxUsage).toEqual({ inputTokens: 4 + 2 + 6 + 2, outputTokens: 0 });
  });

  it('does not exceed the maximum of the model', async () => {
    const { post, calls } = setUp({ maxTokens: 8 });
    await post({ input: ['x'.repeat(5000), 'ab'] });
    await post({ input: [[1, 2, 3], new Array(20).fill(1)] });
    expect(calls.openings.map(({ maxUsage: most }) => most.inputTokens)).toEqual([8 + 4, 5 + 8]);
  });

  it('can fail', async () => {
    const broke = new ServiceError('insufficient_quota', 'No credits.', { code: 'insufficient_quota' });
    const { post, engine } = setUp(
      {},
      {
        opening: () => {
          throw broke;
        },
      },
    );
    expect((await post({ input: 'a' })).status).toBe(429);
    expect(engine.requests).toEqual([]);
  });
});

describe('a failure', () => {
  it('of the engine writes a failed row', async () => {
    const { post, calls } = setUp({
      failure: () => new ServiceError('internal', 'The model crashed.', { code: 'worker_crashed' }),
    });
    const response = await post({ input: 'twelve chars' });
    expect(response.status).toBe(500);
    expect((await errorOf(response)).error.code).toBe('worker_crashed');
    expect(calls.rows).toMatchObject([{ status: 'failed', inputTokens: 0 }]);
  });

  it.each(['invalid_request', 'overloaded'] as const)('by a rejection leaves no row: %s', async (kind) => {
    const { post, calls } = setUp({ failure: () => new ServiceError(kind, 'Too long.') });
    expect((await post({ input: 'a' })).ok).toBe(false);
    expect(calls.rows).toEqual([]);
    expect(calls.unended).toBe(0);
  });

  it('by a disconnect writes a cancelled row', async () => {
    const { post, calls, engine } = setUp({
      before: (_, signal) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true })),
    });
    const controller = new AbortController();
    const answer = Promise.resolve(post({ input: 'a' }, controller.signal)).catch(() => undefined);
    await expect.poll(() => engine.requests.length).toBe(1);
    controller.abort();
    await answer;
    await expect.poll(() => calls.rows).toMatchObject([{ status: 'cancelled', inputTokens: 0 }]);
    expect(engine.leftEarly).toBe(1);
  });

  it('by the concurrency limit affects only one organization', async () => {
    const gate = Promise.withResolvers<void>();
    const { post, open, engine } = setUp({ before: () => gate.promise }, { perOrganization: 1 });
    const first = post({ input: 'a' });
    await expect.poll(() => engine.requests.length).toBe(1);
    expect((await post({ input: 'a' })).status).toBe(429);
    const other = post({ input: 'a' }, undefined, 'key-of-b');
    await expect.poll(() => engine.requests.length).toBe(2);
    const drained = open.drain(new AbortController().signal);
    gate.resolve();
    expect([(await first).status, (await other).status]).toEqual([200, 200]);
    await drained;
  });
});

describe("OpenAI's SDK", () => {
  it('receives numbers with any encoding', async () => {
    const { client } = setUp();
    const input = ['one', 'two'];
    const expected = input.map((text) => Array.from(fakeVector(text)));
    const plain = await client.embeddings.create({ model: MODEL, input });
    expect(plain.data.map(({ embedding }) => embedding)).toEqual(expected);
    const floats = await client.embeddings.create({ model: MODEL, input, encoding_format: 'float' });
    expect(floats.data.map(({ embedding }) => embedding)).toEqual(expected);
    expect(floats.usage).toEqual({ prompt_tokens: 2, total_tokens: 2 });
  });

  it('throws rejections', async () => {
    const { client } = setUp();
    await expect(client.embeddings.create({ model: MODEL, input: [''] })).rejects.toMatchObject({
      status: 400,
      param: 'input.0',
    });
  });
});

it('a form body is rejected even if it has the right fields', async () => {
  const { app, calls } = setUp();
  const body = new FormData();
  body.append('model', MODEL);
  body.append('input', 'a');
  const answer = await app.send('/v1/embeddings', {
    method: 'POST',
    body,
    headers: { 'x-api-key': 'key-of-a' },
  });
  expect([answer.status, (await errorOf(answer)).error.message]).toEqual([
    415,
    "The content type of the request body must be 'application/json'.",
  ]);
  expect(calls.openings).toEqual([]);
});
