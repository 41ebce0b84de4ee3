import type { Material } from '../loads/material.ts';
import type { Ledger } from '../report/ledger.ts';
import type { SoakSites } from '../site/soak-site.ts';

/** Dependencies of faults. */
export interface FaultDeps {
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
  /** Description for the report. */
  readonly what: string;
  /** Whether the servers that it needs are installed. */
  isPossible(sites: SoakSites): boolean;
  /** Injects and repairs the fault. @returns why it could not be injected, or undefined. */
  inject(parts: FaultDeps): Promise<string | undefined>;
}
