import { Type } from '@sinclair/typebox';
import type { CreditStore } from '../contract/accounts/accounts-store.ts';
import type { Route } from '../contract/route.ts';
import { checkedResponse } from '../http/openapi/operation.ts';
import { ANY_ERROR } from '../http/openapi/route-docs.ts';
import { route } from '../http/route.ts';
import { creditNumber } from './credit-amounts.ts';

const Credits = Type.Object(
  {
    object: Type.Literal('credits'),
    balance: Type.Number({ minimum: 0, description: 'Available credits', examples: [12.5] }),
    reserved: Type.Number({
      minimum: 0,
      description: 'Credits reserved for open calls; not included in the balance',
      examples: [0.25],
    }),
    free: Type.Optional(
      Type.Literal(true, { description: 'Present if all calls are free because CONFIG has no prices' }),
    ),
  },
  { title: 'Credits' },
);

/**
 * GET /v1/credits: balance of the caller's organization (contract).
 * @param isFree whether all calls are free.
 */
export function creditRoutes(credits: Pick<CreditStore, 'balance'>, isFree: boolean): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/credits',
      summary: 'Credits of your organization',
      description: 'Without prices in CONFIG all calls are free and no credits are required.',
      tag: 'usage',
      responses: { 200: checkedResponse(Credits), 400: ANY_ERROR },
      async handle({ caller: { organization } }) {
        const { available, reserved } = await credits.balance(organization);
        return {
          object: 'credits',
          balance: creditNumber(available),
          reserved: creditNumber(reserved),
          ...(isFree && { free: true }),
        };
      },
    }),
  ];
}
