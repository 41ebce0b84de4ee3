import type { Ledger } from './ledger.ts';
import type { Material } from './loads/material.ts';
import type { SoakSites } from './soak-site.ts';

/** What a fault may use. */
export interface FaultParts {
  readonly sites: SoakSites;
  readonly ledger: Ledger;
  readonly material: Material;
  readonly random: () => number;
  readonly signal: AbortSignal;
  /** Takes what must stay open until all was looked at. */
  readonly opened: AsyncDisposableStack;
}

/** Something that is broken on purpose and repaired. */
export interface SoakFault {
  readonly name: string;
  /** What happens, for the report. */
  readonly what: string;
  /** Whether it can be done with what this machine has. */
  isPossible(sites: SoakSites): boolean;
  /** Resolves when everything is repaired. @returns why nothing happened, else undefined. */
  strike(parts: FaultParts): Promise<string | undefined>;
}
