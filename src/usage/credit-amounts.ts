/** Credits as people and the wire write them. */

import type { MicroCredits } from '../contract/accounts/accounts-store.ts';
import { decimalText, scaledInteger } from '../kit/validation/decimal.ts';

const PLACES = 6;

/** `12.5` as micro-credits; undefined when it is no such number or has more than six places. */
export function parseCredits(text: string): MicroCredits | undefined {
  const amount = scaledInteger(text, PLACES);
  return amount === undefined || amount > Number.MAX_SAFE_INTEGER ? undefined : Number(amount);
}

/** `12.5`, exactly. */
export function creditText(amount: MicroCredits): string {
  return decimalText(BigInt(amount), PLACES);
}

/** The number that JSON shows: the shortest one that is the amount again when it is rounded to six places. */
export function creditNumber(amount: MicroCredits): number {
  return amount / 10 ** PLACES;
}
