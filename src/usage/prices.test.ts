import { describe, expect, it } from 'vitest';
import { MAX_GRANTED } from '../contract/accounts/accounts-store.ts';
import type { Price } from '../contract/accounts/prices.ts';
import { chargeOf, costOf, priceList } from './prices.ts';

const FREE: Price = {
  endpoint: '/v1/audio/speech',
  model: 'svc-tts',
  request: 0n,
  inputToken: 0n,
  outputToken: 0n,
  character: 0n,
  audioSecond: 0n,
};
const CREDIT = 10n ** 12n;
const NOTHING = { inputTokens: 0, outputTokens: 0 };

describe('a cost', () => {
  it.each<[string, Partial<Price>, Parameters<typeof costOf>[1], number]>([
    ['of a request', { request: CREDIT / 2n }, NOTHING, 500_000],
    ['of input tokens', { inputToken: CREDIT }, { inputTokens: 3, outputTokens: 5 }, 3_000_000],
    ['of output tokens', { outputToken: CREDIT }, { inputTokens: 3, outputTokens: 5 }, 5_000_000],
    ['of characters', { character: CREDIT / 1000n }, { ...NOTHING, characters: 12 }, 12_000],
    ['of audio', { audioSecond: CREDIT }, { ...NOTHING, audioSeconds: 1.25 }, 1_250_000],
    [
      'of a token by the million',
      { inputToken: 150_000n },
      { inputTokens: 1_000_000, outputTokens: 0 },
      150_000,
    ],
    [
      'is the sum of its parts',
      {
        request: 1_000_000n,
        inputToken: 2_000_000n,
        outputToken: 3_000_000n,
        character: 4_000_000n,
        audioSecond: 5_000_000n,
      },
      { inputTokens: 1, outputTokens: 1, characters: 1, audioSeconds: 1 },
      15,
    ],
    [
      'is rounded up once',
      { inputToken: 400_000n, outputToken: 400_000n },
      { inputTokens: 1, outputTokens: 1 },
      1,
    ],
    ['is at least one micro-credit', { audioSecond: 1n }, { ...NOTHING, audioSeconds: 0.000_001 }, 1],
    ['of what was not consumed is nothing', { character: CREDIT, audioSecond: CREDIT }, NOTHING, 0],
    [
      'of counts that are none is nothing',
      { inputToken: CREDIT, outputToken: CREDIT, audioSecond: CREDIT },
      { inputTokens: Number.NaN, outputTokens: -5, audioSeconds: Number.POSITIVE_INFINITY },
      0,
    ],
    ['is at most what one can have', { request: CREDIT * 10n ** 12n }, NOTHING, MAX_GRANTED],
  ])('%s', (_, price, consumed, cost) => {
    expect(costOf({ ...FREE, ...price }, consumed)).toBe(cost);
  });
});

describe('a charge', () => {
  const price = { ...FREE, request: CREDIT, outputToken: CREDIT };
  it.each([
    ['completed', 2, 3_000_000],
    ['completed', 0, 1_000_000],
    ['cancelled', 2, 3_000_000],
    ['cancelled', 0, 0],
    ['failed', 2, 2_000_000],
    ['failed', 0, 0],
  ] as const)('of a call that %s with %i tokens is %i', (status, outputTokens, charge) => {
    expect(chargeOf(price, status, { inputTokens: 9, outputTokens })).toBe(charge);
  });
});

describe('a price list', () => {
  it('returns the price of an endpoint and model, and ignores prices of zero', () => {
    const speech = { ...FREE, character: 1n };
    const chat = { ...FREE, endpoint: 'POST /v1/chat/completions', model: 'm', request: 1n } as const;
    const find = priceList([speech, chat, { ...FREE, model: 'other' }]);
    expect(find(speech)).toBe(speech);
    expect(find(chat)).toBe(chat);
    expect(find({ endpoint: '/v1/audio/speech', model: 'm' })).toBeUndefined();
    expect(find({ endpoint: '/v1/audio/speech', model: 'other' })).toBeUndefined();
  });
});
