import { Type } from '@sinclair/typebox';
import type { UsageDay, UsageReader } from '../contract/accounts/usage.ts';
import type { Clock } from '../contract/core/clock.ts';
import type { Route } from '../contract/route.ts';
import { checkedResponse } from '../http/openapi/operation.ts';
import { ANY_ERROR } from '../http/openapi/route-docs.ts';
import { integerIn, readQuery } from '../http/request/query.ts';
import { type RouteQuery, route } from '../http/route.ts';
import { creditNumber } from './credit-amounts.ts';

const DAY_MS = 86_400_000;
const DAYS = { minimum: 1, maximum: 92, fallback: 30 };

const Count = Type.Integer({ minimum: 0 });
const Day = Type.String({ description: 'A day in UTC.', examples: ['2026-11-22'] });

const Summary = Type.Object(
  {
    object: Type.Literal('usage.summary'),
    from: Day,
    to: Day,
    data: Type.Array(
      Type.Object({
        day: Day,
        endpoint: Type.String({ examples: ['/v1/audio/speech'] }),
        model: Type.String({ examples: ['svc-tts'] }),
        requests: Count,
        failed: Type.Integer({ minimum: 0, description: 'of the requests' }),
        input_tokens: Count,
        output_tokens: Count,
        characters: Count,
        audio_seconds: Type.Number({ minimum: 0 }),
        credits: Type.Number({ minimum: 0, description: 'what was charged' }),
      }),
    ),
  },
  { title: 'Usage summary' },
);

const QUERY: RouteQuery<number> = {
  parameters: [
    {
      name: 'days',
      in: 'query',
      description: 'Number of days, ending today.',
      schema: { type: 'integer', minimum: DAYS.minimum, maximum: DAYS.maximum, default: DAYS.fallback },
      example: 30,
    },
  ],
  read: (request) => integerIn('days', readQuery(request, ['days']).days, DAYS),
};

/** GET /v1/usage/summary: usage totals of the caller's organization by day, endpoint and model. */
export function usageSummaryRoutes(usage: Pick<UsageReader, 'days'>, clock: Clock): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/usage/summary',
      summary: 'Usage of your organization by day, endpoint and model',
      description: 'Ordered by day, endpoint and model. Combinations without requests are omitted.',
      tag: 'usage',
      query: QUERY,
      responses: { 200: checkedResponse(Summary), 400: ANY_ERROR },
      async handle({ caller: { organization }, query: days }) {
        const to = Math.floor(clock.now() / DAY_MS);
        const from = to + 1 - days;
        const sums = await usage.days({ organization, from, to });
        return { object: 'usage.summary', from: dayName(from), to: dayName(to), data: sums.map(toWire) };
      },
    }),
  ];
}

function toWire(sums: UsageDay) {
  return {
    day: dayName(sums.day),
    endpoint: sums.endpoint,
    model: sums.model,
    requests: sums.requests,
    failed: sums.failed,
    input_tokens: sums.inputTokens,
    output_tokens: sums.outputTokens,
    characters: sums.characters,
    audio_seconds: sums.audioSeconds,
    credits: creditNumber(sums.charged),
  };
}

/** @param day days since 1970-01-01. */
function dayName(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}
