import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { embedEngineCases, embedRequest } from '../../../../test/contract/embed-engine.cases.ts';
import { fakeVector } from '../../../../test/doubles/fake-embed-engine.ts';
import { RecordingLogger } from '../../../../tools/harness/doubles/recording-logger.ts';
import { type FakeUpstream, startFakeUpstream } from '../../../../tools/harness/upstreams/fake-upstream.ts';
import { Secret } from '../../../contract/core/secret.ts';
import { upstreamEmbedEngine } from './engine.ts';

const never = new AbortController().signal;
const DIMENSIONS = 8;

type Input = string | readonly number[];
const inputsOf = ({ input }: Record<string, unknown>) => input as readonly Input[];
const base64 = (vector: Float32Array) => Buffer.from(vector.buffer).toString('base64');

/** A response in OpenAI's format. */
function answer(embeddings: readonly unknown[], usage: object = { prompt_tokens: 5 }): Response {
  return Response.json({
    object: 'list',
    data: embeddings.map((embedding, index) => ({ object: 'embedding', index, embedding })),
    usage,
  });
}

/** A text and its token ids have the same vector. */
function vectorsOf(body: Record<string, unknown>): Float32Array[] {
  const { dimensions } = body as { dimensions?: number };
  return inputsOf(body).map((input) => {
    const text = typeof input === 'string' ? input : String.fromCodePoint(...input);
    return fakeVector(text, DIMENSIONS).slice(0, dimensions);
  });
}

let upstream: FakeUpstream;
let log: RecordingLogger;
beforeEach(() => {
  upstream = startFakeUpstream();
  upstream.answer((body) => answer(vectorsOf(body).map(base64)));
  log = new RecordingLogger();
});
afterEach(() => upstream.close());

function createEngine(fields: { apiKey?: Secret } = {}) {
  const settings = { kind: 'upstream', baseUrl: upstream.baseUrl, apiKey: undefined, model: 'own' } as const;
  const engine = upstreamEmbedEngine({ settings: { ...settings, ...fields }, log });
  onTestFinished(() => engine.close());
  return engine;
}

embedEngineCases('an upstream', async () => {
  const server = startFakeUpstream();
  server.answer((body) => answer(vectorsOf(body).map(base64)));
  const engine = upstreamEmbedEngine({
    settings: { kind: 'upstream', baseUrl: server.baseUrl, apiKey: undefined, model: 'm' },
    log: new RecordingLogger(),
  });
  return {
    engine,
    dimensions: DIMENSIONS,
    tokenized: { text: 'AB', ids: [65, 66] },
    async close() {
      await engine.close();
      await server.close();
    },
  };
});

it('sends all inputs in one request, with the model name and key of the configuration', async () => {
  const engine = createEngine({ apiKey: new Secret('key-of-upstream') });
  await engine.embed(embedRequest({ inputs: ['a', [1, 2]], dimensions: 2 }), never);
  expect(upstream.seen).toHaveLength(1);
  expect(upstream.seen[0]?.path).toBe('/v1/embeddings');
  expect(upstream.seen[0]?.headers.authorization).toBe('Bearer key-of-upstream');
  expect(upstream.seen[0]?.body).toEqual({
    model: 'own',
    input: ['a', [1, 2]],
    encoding_format: 'base64',
    dimensions: 2,
  });
});

describe('vectors', () => {
  it('may be arrays of any length, in any order', async () => {
    upstream.answer(() =>
      Response.json({
        data: [
          { index: 1, embedding: [0, 2] },
          { index: 0, embedding: [3, 4] },
        ],
      }),
    );
    const { vectors } = await createEngine().embed(embedRequest({ inputs: ['a', 'b'] }), never);
    expect(vectors.map((vector) => Array.from(vector, (value) => Math.round(value * 10) / 10))).toEqual([
      [0.6, 0.8],
      [0, 1],
    ]);
  });

  it('are truncated if the upstream does not support dimensions', async () => {
    upstream.answer(() => answer([[3, 4, 100]]));
    const { vectors } = await createEngine().embed(embedRequest({ dimensions: 2 }), never);
    expect(Array.from(vectors[0] ?? [])).toEqual([expect.closeTo(0.6, 5), expect.closeTo(0.8, 5)]);
  });

  it.each([
    ['too few', { data: [{ index: 0, embedding: [1] }] }],
    ['duplicate index', { data: [0, 0].map((index) => ({ index, embedding: [1] })) }],
    ['index out of range', { data: [0, 2 ** 31].map((index) => ({ index, embedding: [1] })) }],
    ['no data', {}],
    ['empty vectors', { data: [0, 1].map((index) => ({ index, embedding: [] })) }],
    ['strings', { data: [0, 1].map((index) => ({ index, embedding: ['a'] })) }],
    ['incomplete number', { data: [0, 1].map((index) => ({ index, embedding: 'AAA=' })) }],
    [
      'not a number',
      { data: [0, 1].map((index) => ({ index, embedding: base64(Float32Array.of(Number.NaN)) })) },
    ],
  ])('that are invalid fail the request: %s', async (_, body) => {
    upstream.answer(() => Response.json(body));
    await expect(createEngine().embed(embedRequest({ inputs: ['a', 'b'] }), never)).rejects.toMatchObject({
      kind: 'upstream',
      code: 'upstream_error',
    });
  });
});

it.each([
  [{ prompt_tokens: 17, total_tokens: 17 }, 17],
  [{ prompt_tokens: -3 }, 6],
  [{}, 6],
])('usage %j gives %d tokens', async (usage, tokens) => {
  upstream.answer((body) => answer(vectorsOf(body).map(base64), usage));
  const inputs = ['twelve chars', [1, 2, 3]];
  expect((await createEngine().embed(embedRequest({ inputs }), never)).tokens).toBe(tokens);
});

it.each([
  [400, 'invalid_request', 'the input of My private diary is wrong', undefined],
  [400, 'invalid_request', 'maximum context length is 512', 'context_length_exceeded'],
  [429, 'overloaded', 'slow down', 'server_overloaded'],
  [401, 'upstream', 'no key', 'upstream_error'],
  [500, 'upstream', 'crashed', 'upstream_error'],
])('rejection %d becomes %s: %s', async (status, kind, message, code) => {
  upstream.answer(() => Response.json({ error: { message } }, { status }));
  const error = await createEngine()
    .embed(embedRequest(), never)
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ kind, code });
  expect(String(error)).not.toContain('diary');
});

it('cancellation closes the connection', async () => {
  upstream.answer(() => new Promise(() => undefined));
  const controller = new AbortController();
  const outcome = expect(createEngine().embed(embedRequest(), controller.signal)).rejects.toBe('left');
  await expect.poll(() => upstream.seen.length).toBe(1);
  controller.abort('left');
  await outcome;
  await expect.poll(() => upstream.cancelled).toBe(1);
});
