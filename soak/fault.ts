import type { Ledger } from './ledger.ts';
import type { Material } from './loads/material.ts';
import type { SoakSites } from './soak-site.ts';

/** Dependencies of faults. */
export interface FaultParts {
  readonly sites: SoakSites;
  readonly ledger: Ledger;
  readonly material: Material;
  readonly random: () => number;
  readonly signal: AbortSignal;
  /** Takes resources that must stay open until all checks have run. */
  readonly opened: AsyncDisposableStack;
}

/** An injected fault and its repair. */
export interface SoakFault {
  readonly name: string;
  /** What happens, for the report. */
  readonly what: string;
  /** Whether it can be done with what this machine has. */
  isPossible(sites: SoakSites): boolean;
  /** Resolves when everything is repaired. @returns why nothing happened, else undefined. */
  strike(parts: FaultParts): Promise<string | undefined>;
}
