/** What calls cost. Parsed from CONFIG by src/config/file.ts. */

import type { EndpointLabel } from './usage.ts';

/** Integer 10^-12 credits: fine enough for a price by the million tokens. */
export type PicoCredits = bigint;

/** Price of one endpoint with one model; a call costs the sum of its parts, rounded up to a micro-credit. */
export interface Price {
  readonly endpoint: EndpointLabel;
  readonly model: string;
  /** Fee of each call that gave anything. */
  readonly request: PicoCredits;
  readonly inputToken: PicoCredits;
  readonly outputToken: PicoCredits;
  readonly character: PicoCredits;
  readonly audioSecond: PicoCredits;
}
