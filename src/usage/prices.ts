import { MAX_GRANTED, type MicroCredits } from '../contract/accounts/accounts-store.ts';
import type { UsageAmounts } from '../contract/accounts/calls.ts';
import type { PicoCredits, Price } from '../contract/accounts/prices.ts';
import type { UsageStatus } from '../contract/accounts/usage.ts';

/** Returns the price of a call; undefined if it is free. */
export type FindPrice = (call: Pick<Price, 'endpoint' | 'model'>) => Price | undefined;

const PICO_PER_MICRO = 1_000_000n;
/** Audio is billed in microseconds. */
const MICROSECONDS = 1_000_000n;

/** Prices of zero count as free. */
export function priceList(prices: readonly Price[]): FindPrice {
  const key = ({ endpoint, model }: Pick<Price, 'endpoint' | 'model'>) => `${endpoint} ${model}`;
  const charged = new Map(prices.filter((price) => !isFree(price)).map((price) => [key(price), price]));
  return (call) => charged.get(key(call));
}

/** Whether all calls are free. */
export function areFree(prices: readonly Price[]): boolean {
  return prices.every(isFree);
}

/**
 * Returns the cost including the request fee, rounded up; at most {@link MAX_GRANTED}, which no balance
 * exceeds.
 */
export function costOf(price: Price, consumed: UsageAmounts): MicroCredits {
  const { inputTokens, outputTokens, characters = 0, audioSeconds = 0 } = consumed;
  const unitCost: PicoCredits =
    price.request +
    price.inputToken * whole(inputTokens) +
    price.outputToken * whole(outputTokens) +
    price.character * whole(characters);
  const total = unitCost * MICROSECONDS + price.audioSecond * whole(audioSeconds * Number(MICROSECONDS));
  const micro = ceilDivide(total, PICO_PER_MICRO * MICROSECONDS);
  return micro > MAX_GRANTED ? MAX_GRANTED : Number(micro);
}

/**
 * Returns the charge of a call: its usage, and the request fee if it produced output. Failed calls, and calls
 * cancelled before their first output, have no fee.
 */
export function chargeOf(price: Price, status: UsageStatus, consumed: UsageAmounts): MicroCredits {
  const hasOutput = status === 'completed' || (status === 'cancelled' && consumed.outputTokens > 0);
  return costOf(hasOutput ? price : { ...price, request: 0n }, consumed);
}

/** Invalid counts of an upstream cost nothing. */
function whole(count: number): bigint {
  return count > 0 && Number.isFinite(count) ? BigInt(Math.round(count)) : 0n;
}

function ceilDivide(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by;
}

function isFree({ request, inputToken, outputToken, character, audioSecond }: Price): boolean {
  return [request, inputToken, outputToken, character, audioSecond].every((part) => part === 0n);
}
