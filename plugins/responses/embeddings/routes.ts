import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import type { Calls } from '../../../src/contract/accounts/calls.ts';
import { failure, jsonBody, plain, WORK_FAILURES } from '../../../src/http/openapi/route-docs.ts';
import { idleTimeoutOf, streamedBody } from '../../../src/http/response/streamed-body.ts';
import { callerOf } from '../../../src/http/security/caller.ts';
import { embeddingList } from './response.ts';
import { EmbedBody, parseEmbed } from './schema.ts';
import type { Embedder } from './service.ts';

const encoder = new TextEncoder();

/** POST /v1/embeddings, as in OpenAI's SDK. */
export function embeddingRoutes(embedder: Embedder, calls: Calls) {
  return new Elysia({ name: 'embeddings', tags: ['text'] }).post(
    '/v1/embeddings',
    async ({ body, request }) => {
      const ask = parseEmbed(body);
      const idleTimeout = idleTimeoutOf(request);
      idleTimeout.suspend();
      const left = new AbortController();
      try {
        const signal = AbortSignal.any([request.signal, left.signal]);
        const order = { caller: callerOf(request), priority: 'interactive', calls } as const;
        const embeddings = await embedder.embed(ask, order, signal);
        const answer = streamedBody(encoded(embeddingList(embeddings, ask)), left, request);
        return new Response(answer, { headers: { 'content-type': 'application/json' } });
      } finally {
        idleTimeout.resume();
      }
    },
    { detail: DOCUMENTATION },
  );
}

async function* encoded(
  texts: AsyncIterable<string>,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  for await (const text of texts) yield encoder.encode(text);
}

const MODEL = 'all-minilm-l6-v2';
const Tokens = Type.Integer({ minimum: 0, examples: [8] });
const EmbeddingList = Type.Object(
  {
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
  },
  { title: 'Embeddings' },
);

const DOCUMENTATION = {
  summary: 'Embeddings',
  description: 'Turns texts into vectors of length 1: the more alike two texts are, the closer are theirs.',
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: jsonBody({ ...EmbedBody, title: 'Embeddings request' }),
        examples: {
          text: { summary: 'A text', value: { model: MODEL, input: 'The cat sat on the mat.' } },
          texts: {
            summary: 'Several, as bytes',
            value: { model: MODEL, input: ['A cat.', 'A dog.'], encoding_format: 'base64' },
          },
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
