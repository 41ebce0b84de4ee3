import { MAX_GRANTED, type MicroCredits } from '../contract/accounts/accounts-store.ts';
import type { UsageAmounts } from '../contract/accounts/calls.ts';
import type { PicoCredits, Price } from '../contract/accounts/prices.ts';
import type { UsageStatus } from '../contract/accounts/usage.ts';

/** Finds the price of a call; undefined when it is free. */
export type FindPrice = (call: Pick<Price, 'endpoint' | 'model'>) => Price | undefined;

const PICO_PER_MICRO = 1_000_000n;
/** Of a second of audio: the smallest that is billed. */
const MICROSECONDS = 1_000_000n;

/** A price of nothing but zeros is no price. */
export function priceList(prices: readonly Price[]): FindPrice {
  const key = ({ endpoint, model }: Pick<Price, 'endpoint' | 'model'>) => `${endpoint} ${model}`;
  const charged = new Map(prices.filter((price) => !isFree(price)).map((price) => [key(price), price]));
  return (call) => charged.get(key(call));
}

/** Whether no call costs anything. */
export function areFree(prices: readonly Price[]): boolean {
  return prices.every(isFree);
}

/** What so much costs with the fee of its request, rounded up; at most what anybody can have. */
export function costOf(price: Price, consumed: UsageAmounts): MicroCredits {
  const { inputTokens, outputTokens, characters = 0, audioSeconds = 0 } = consumed;
  const parts: PicoCredits =
    price.request +
    price.inputToken * whole(inputTokens) +
    price.outputToken * whole(outputTokens) +
    price.character * whole(characters);
  const all = parts * MICROSECONDS + price.audioSecond * whole(audioSeconds * Number(MICROSECONDS));
  const micro = ceilDivide(all, PICO_PER_MICRO * MICROSECONDS);
  return micro > MAX_GRANTED ? MAX_GRANTED : Number(micro);
}

/**
 * What a call is charged: for what it consumed, and the fee of its request if it gave anything. One that failed
 * has no fee, nor has one that was cancelled before its first output.
 */
export function chargeOf(price: Price, status: UsageStatus, consumed: UsageAmounts): MicroCredits {
  const gave = status === 'completed' || (status === 'cancelled' && consumed.outputTokens > 0);
  return costOf(gave ? price : { ...price, request: 0n }, consumed);
}

/** A count that is no count, as an upstream may send one, costs nothing. */
function whole(count: number): bigint {
  return count > 0 && Number.isFinite(count) ? BigInt(Math.round(count)) : 0n;
}

function ceilDivide(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by;
}

function isFree({ request, inputToken, outputToken, character, audioSecond }: Price): boolean {
  return [request, inputToken, outputToken, character, audioSecond].every((part) => part === 0n);
}
