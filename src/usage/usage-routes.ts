import { Type } from '@sinclair/typebox';
import type { UsageReader, UsageRecord } from '../contract/accounts/usage.ts';
import type { Route } from '../contract/route.ts';
import { checkedResponse } from '../http/openapi/operation.ts';
import { ANY_ERROR } from '../http/openapi/route-docs.ts';
import { UnixSeconds } from '../http/openapi/schemas.ts';
import { type PageQuery, pageIn, readQuery } from '../http/request/query.ts';
import { listBody } from '../http/response/bodies.ts';
import { type RouteQuery, route } from '../http/route.ts';

const Count = Type.Integer({ minimum: 0 });

const Row = Type.Object(
  {
    id: Type.String({ examples: ['usage_5f0c2f1e6b0d4f3c8f4f9a3d2b1c0e9f'] }),
    object: Type.Literal('usage.record'),
    created_at: UnixSeconds,
    endpoint: Type.String({ examples: ['/v1/audio/speech'] }),
    model: Type.String({ examples: ['svc-tts'] }),
    status: Type.String({ description: 'completed, cancelled or failed', examples: ['completed'] }),
    input_tokens: Count,
    output_tokens: Count,
    characters: Type.Optional(Count),
    audio_bytes: Type.Optional(Count),
    audio_seconds: Type.Optional(Type.Number({ minimum: 0 })),
    transcript: Type.Optional(Type.String({ description: 'Transcript, for transcription endpoints' })),
    request_id: Type.String({ examples: ['req_0d4f3c8f4f9a3d2b1c0e9f5f0c2f1e6b'] }),
  },
  { title: 'Usage record' },
);

const Page = Type.Object({
  object: Type.Literal('list'),
  data: Type.Array(Row),
  first_id: Type.Union([Type.String(), Type.Null()]),
  last_id: Type.Union([Type.String(), Type.Null()]),
  has_more: Type.Boolean(),
});

const LIMIT = { minimum: 1, maximum: 100, fallback: 20 };

const QUERY: RouteQuery<PageQuery & { readonly endpoint: string | undefined }> = {
  parameters: [
    {
      name: 'limit',
      in: 'query',
      description: 'Rows of a page.',
      schema: { type: 'integer', minimum: LIMIT.minimum, maximum: LIMIT.maximum, default: LIMIT.fallback },
      example: 20,
    },
    {
      name: 'after',
      in: 'query',
      description: 'Id of the last row of the previous page.',
      schema: { type: 'string' },
    },
    {
      name: 'endpoint',
      in: 'query',
      description:
        'Returns only records with this endpoint label, e.g. `/v1/audio/speech` or `POST /v1/responses`.',
      schema: { type: 'string' },
    },
  ],
  read(request) {
    const query = readQuery(request, ['limit', 'after', 'endpoint']);
    return { ...pageIn(query, LIMIT), endpoint: query.endpoint };
  },
};

/** GET /v1/usage: usage records of the caller's organization, newest first (contract). */
export function usageRoutes(usage: UsageReader): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/usage',
      summary: 'Usage of your organization, newest first',
      description: 'One record per call with its usage. Pass `last_id` as `after` to get the next page.',
      tag: 'usage',
      query: QUERY,
      responses: { 200: checkedResponse(Page), 400: ANY_ERROR },
      async handle({ caller: { organization }, query: { limit, after, endpoint } }) {
        const { records, hasMore } = await usage.list({ organization, limit, after, endpoint });
        return listBody(records.map(toWire), hasMore);
      },
    }),
  ];
}

/** Optional values are omitted if the request had none. */
function toWire(record: UsageRecord) {
  return {
    id: record.id,
    object: 'usage.record' as const,
    created_at: record.createdAt,
    endpoint: record.endpoint,
    model: record.model,
    status: record.status,
    input_tokens: record.inputTokens,
    output_tokens: record.outputTokens,
    ...(record.characters === undefined ? {} : { characters: record.characters }),
    ...(record.audioBytes === undefined ? {} : { audio_bytes: record.audioBytes }),
    ...(record.audioSeconds === undefined ? {} : { audio_seconds: record.audioSeconds }),
    ...(record.transcript === undefined ? {} : { transcript: record.transcript }),
    request_id: record.requestId,
  };
}
