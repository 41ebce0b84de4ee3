import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import type { Embeddings } from '../../src/contract/embed.ts';
import { callerOf } from '../../src/http/caller.ts';
import { failure, plain, WORK_FAILURES } from '../../src/http/route-docs.ts';
import { idleTimeoutOf, streamedBody } from '../../src/http/streamed-body.ts';
import type { Embedder } from './embed.ts';
import { type EmbedAsk, EmbedBody, parseEmbed } from './embed-model.ts';

/** Numbers that are written at once: more would hold up whoever else is served. */
const NUMBERS_AT_ONCE = 16_384;
const encoder = new TextEncoder();

/** POST /v1/embeddings, as in OpenAI's SDK. */
export function embeddingRoutes(embedder: Embedder) {
  return new Elysia({ name: 'embeddings', tags: ['text'] }).post(
    '/v1/embeddings',
    async ({ body, request }) => {
      const ask = parseEmbed(body);
      const idleTimeout = idleTimeoutOf(request);
      idleTimeout.suspend();
      const left = new AbortController();
      try {
        const signal = AbortSignal.any([request.signal, left.signal]);
        const embeddings = await embedder.embed(ask, callerOf(request), signal);
        const answer = streamedBody(listOf(embeddings, ask), left, idleTimeout);
        return new Response(answer, { headers: { 'content-type': 'application/json' } });
      } finally {
        idleTimeout.resume();
      }
    },
    { detail: DOCUMENTATION },
  );
}

/** The answer's JSON, part by part. */
async function* listOf(
  { vectors, tokens }: Embeddings,
  { model, encoding }: EmbedAsk,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  let text = '{"object":"list","data":[';
  let numbers = 0;
  for (const [index, vector] of vectors.entries()) {
    const embedding = encoding === 'base64' ? base64Of(vector) : Array.from(vector);
    text += `${index === 0 ? '' : ','}${JSON.stringify({ object: 'embedding', index, embedding })}`;
    numbers += vector.length;
    if (numbers < NUMBERS_AT_ONCE) continue;
    yield encoder.encode(text);
    text = '';
    numbers = 0;
    await new Promise((resolve) => setImmediate(resolve));
  }
  const usage = { prompt_tokens: tokens, total_tokens: tokens };
  yield encoder.encode(`${text}],"model":${JSON.stringify(model)},"usage":${JSON.stringify(usage)}}`);
}

/** Little-endian 32-bit floats, which is what the processors that this runs on have. */
function base64Of({ buffer, byteOffset, byteLength }: Float32Array<ArrayBuffer>): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}

const MODEL = 'all-minilm-l6-v2';
const Tokens = Type.Integer({ minimum: 0, examples: [8] });
const EmbeddingList = Type.Object({
  object: Type.Literal('list'),
  data: Type.Array(
    Type.Object({
      object: Type.Literal('embedding'),
      index: Type.Integer({ minimum: 0, description: 'Place of its input.', examples: [0] }),
      embedding: Type.Union([Type.Array(Type.Number()), Type.String()], {
        description: 'Numbers, or with `base64` their bytes.',
        examples: [[0.6, -0.8]],
      }),
    }),
  ),
  model: Type.String({ examples: [MODEL] }),
  usage: Type.Object({ prompt_tokens: Tokens, total_tokens: Tokens }),
});

const DOCUMENTATION = {
  summary: 'Embeddings',
  description: 'Turns texts into vectors of length 1: the more alike two texts are, the closer are theirs.',
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: plain(EmbedBody),
        examples: {
          text: { value: { model: MODEL, input: 'The cat sat on the mat.' } },
          texts: { value: { model: MODEL, input: ['A cat.', 'A dog.'], encoding_format: 'base64' } },
        },
      },
    },
  },
  responses: {
    200: {
      description: 'One vector for each input, in order',
      content: { 'application/json': { schema: plain(EmbeddingList) } },
    },
    ...WORK_FAILURES,
    415: failure('The body is no JSON'),
    500: failure('The model failed'),
    502: failure('The server that makes the vectors failed'),
  },
};
