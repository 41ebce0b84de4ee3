import { Type } from '@sinclair/typebox';
import type { Calls } from '../../../src/contract/accounts/calls.ts';
import type { Route } from '../../../src/contract/route.ts';
import { jsonBody, jsonResponse, WORK_FAILURES } from '../../../src/http/openapi/route-docs.ts';
import { idleTimeoutOf, streamedBody } from '../../../src/http/response/streamed-body.ts';
import { route } from '../../../src/http/route.ts';
import { embeddingList, isOnePart } from './response.ts';
import { EmbedBody, parseEmbed } from './schema.ts';
import type { EmbeddingService } from './service.ts';

const encoder = new TextEncoder();

export interface EmbeddingServices {
  readonly embeddings: EmbeddingService;
  readonly calls: Calls;
}

const MODEL = 'all-minilm-l6-v2';
const Tokens = Type.Integer({ minimum: 0, examples: [8] });
const EmbeddingList = Type.Object(
  {
    object: Type.Literal('list'),
    data: Type.Array(
      Type.Object({
        object: Type.Literal('embedding'),
        index: Type.Integer({ minimum: 0, description: 'Index of its input.', examples: [0] }),
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

/** POST /v1/embeddings, compatible with OpenAI's SDK. */
export const EMBEDDING_ROUTES: readonly Route<EmbeddingServices>[] = [
  route({
    method: 'POST',
    path: '/v1/embeddings',
    tag: 'text',
    summary: 'Embeddings',
    description: 'Converts texts to vectors of length 1. Similar texts have similar vectors.',
    body: {
      json: {
        schema: jsonBody({ ...EmbedBody, title: 'Embeddings request' }),
        examples: {
          text: { summary: 'A text', value: { model: MODEL, input: 'The cat sat on the mat.' } },
          texts: {
            summary: 'Several texts, base64 encoding',
            value: { model: MODEL, input: ['A cat.', 'A dog.'], encoding_format: 'base64' },
          },
        },
      },
      read: parseEmbed,
    },
    responses: {
      200: jsonResponse('One vector per input, in order', EmbeddingList),
      ...WORK_FAILURES,
      415: 'The body is not JSON',
      500: 'The model failed',
      502: 'The upstream server failed',
    },
    async handle({ body: params, caller, request }, { embeddings: service, calls }: EmbeddingServices) {
      const idleTimeout = idleTimeoutOf(request);
      idleTimeout.suspend();
      const disconnected = new AbortController();
      try {
        const signal = AbortSignal.any([request.signal, disconnected.signal]);
        const context = { caller, priority: 'interactive', calls } as const;
        const embeddings = await service.embed(params, context, signal);
        const parts = embeddingList(embeddings, params);
        const body = isOnePart(embeddings)
          ? (await parts.next()).value
          : streamedBody(encoded(parts), disconnected, request);
        return new Response(body ?? null, { headers: { 'content-type': 'application/json' } });
      } finally {
        idleTimeout.resume();
      }
    },
  }),
];

async function* encoded(
  texts: AsyncIterable<string>,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  for await (const text of texts) yield encoder.encode(text);
}
