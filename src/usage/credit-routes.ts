import { Type } from '@sinclair/typebox';
import { Elysia, t } from 'elysia';
import type { CreditStore } from '../contract/accounts/accounts-store.ts';
import { ErrorSchema } from '../http/openapi/schemas.ts';
import { callerOf } from '../http/security/caller.ts';
import { creditNumber } from './credit-amounts.ts';

// TypeBox numbers, because OpenAPI would list Elysia's numbers also as strings.
const Credits = t.Object(
  {
    object: t.Literal('credits'),
    balance: Type.Number({ minimum: 0, description: 'Available credits', examples: [12.5] }),
    reserved: Type.Number({
      minimum: 0,
      description: 'Credits reserved for open calls; not included in the balance',
      examples: [0.25],
    }),
    free: t.Optional(
      t.Literal(true, { description: 'Present if all calls are free because CONFIG has no prices' }),
    ),
  },
  { title: 'Credits' },
);

/**
 * GET /v1/credits: balance of the caller's organization (contract).
 * @param isFree whether all calls are free.
 */
export function creditRoutes(credits: Pick<CreditStore, 'balance'>, isFree: boolean) {
  return new Elysia({ name: 'credits', tags: ['usage'] }).get(
    '/v1/credits',
    async ({ request }) => {
      const { available, reserved } = await credits.balance(callerOf(request).organization);
      return {
        object: 'credits' as const,
        balance: creditNumber(available),
        reserved: creditNumber(reserved),
        ...(isFree && { free: true as const }),
      };
    },
    {
      response: { 200: Credits, 400: ErrorSchema },
      detail: {
        summary: 'Credits of your organization',
        description: 'Without prices in CONFIG all calls are free and no credits are required.',
      },
    },
  );
}
