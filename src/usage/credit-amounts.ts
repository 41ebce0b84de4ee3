/** Conversion of credit amounts to and from text and JSON. */

import type { MicroCredits } from '../contract/accounts/accounts-store.ts';
import { decimalText, scaledInteger } from '../kit/validation/decimal.ts';

const PLACES = 6;

/**
 * Parses `12.5` to micro-credits; undefined if it is not a valid number or has more than six decimal places.
 */
export function parseCredits(text: string): MicroCredits | undefined {
  const amount = scaledInteger(text, PLACES);
  return amount === undefined || amount > Number.MAX_SAFE_INTEGER ? undefined : Number(amount);
}

/** Formats micro-credits exactly, e.g. `12.5`. */
export function creditText(amount: MicroCredits): string {
  return decimalText(BigInt(amount), PLACES);
}

/** Converts micro-credits to the JSON number, which is exact when rounded to six places. */
export function creditNumber(amount: MicroCredits): number {
  return amount / 10 ** PLACES;
}
