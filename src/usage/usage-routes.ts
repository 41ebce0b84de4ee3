import { Type } from '@sinclair/typebox';
import { Elysia, t } from 'elysia';
import type { UsageReader, UsageRecord } from '../contract/accounts/usage.ts';
import { ErrorSchema, UnixSeconds } from '../http/openapi/schemas.ts';
import { pageIn, readQuery } from '../http/request/query.ts';
import { callerOf } from '../http/security/caller.ts';

// TypeBox numbers, because OpenAPI would list Elysia's numbers also as strings.
const Count = Type.Integer({ minimum: 0 });

const Row = t.Object(
  {
    id: t.String({ examples: ['usage_5f0c2f1e6b0d4f3c8f4f9a3d2b1c0e9f'] }),
    object: t.Literal('usage.record'),
    created_at: UnixSeconds,
    endpoint: t.String({ examples: ['/v1/audio/speech'] }),
    model: t.String({ examples: ['svc-tts'] }),
    status: t.String({ description: 'completed, cancelled or failed', examples: ['completed'] }),
    input_tokens: Count,
    output_tokens: Count,
    characters: t.Optional(Count),
    audio_bytes: t.Optional(Count),
    audio_seconds: t.Optional(Type.Number({ minimum: 0 })),
    transcript: t.Optional(t.String({ description: 'Transcript, for transcription endpoints' })),
    request_id: t.String({ examples: ['req_0d4f3c8f4f9a3d2b1c0e9f5f0c2f1e6b'] }),
  },
  { title: 'Usage record' },
);

const Page = t.Object({
  object: t.Literal('list'),
  data: t.Array(Row),
  first_id: t.Union([t.String(), t.Null()]),
  last_id: t.Union([t.String(), t.Null()]),
  has_more: t.Boolean(),
});

const LIMIT = { minimum: 1, maximum: 100, fallback: 20 };

/** GET /v1/usage: usage records of the caller's organization, newest first (contract). */
export function usageRoutes(usage: UsageReader) {
  return new Elysia({ name: 'usage', tags: ['usage'] }).get(
    '/v1/usage',
    async ({ request }) => {
      const query = readQuery(request, ['limit', 'after', 'endpoint']);
      const { limit, after } = pageIn(query, LIMIT);
      const { records, hasMore } = await usage.list({
        organization: callerOf(request).organization,
        limit,
        after,
        endpoint: query.endpoint,
      });
      return {
        object: 'list' as const,
        data: records.map(toWire),
        first_id: records[0]?.id ?? null,
        last_id: records.at(-1)?.id ?? null,
        has_more: hasMore,
      };
    },
    {
      response: { 200: Page, 400: ErrorSchema },
      detail: {
        summary: 'Usage of your organization, newest first',
        description: 'One record per call with its usage. Pass `last_id` as `after` to get the next page.',
        parameters: [
          {
            name: 'limit',
            in: 'query',
            description: 'Rows of a page.',
            schema: {
              type: 'integer',
              minimum: LIMIT.minimum,
              maximum: LIMIT.maximum,
              default: LIMIT.fallback,
            },
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
      },
    },
  );
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
