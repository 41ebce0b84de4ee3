/** Prices of calls. Parsed from CONFIG by src/config/sections/accounts.ts. */

import type { EndpointLabel } from './usage.ts';

/** Integer 10^-12 credits, precise enough for prices per million tokens. */
export type PicoCredits = bigint;

/**
 * Price of an endpoint and model. The cost of a call is the sum of the components, rounded up to a
 * micro-credit.
 */
export interface Price {
  readonly endpoint: EndpointLabel;
  readonly model: string;
  /** Fee per call that produced output. */
  readonly request: PicoCredits;
  readonly inputToken: PicoCredits;
  readonly outputToken: PicoCredits;
  readonly character: PicoCredits;
  readonly audioSecond: PicoCredits;
}
