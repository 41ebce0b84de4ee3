import type { SoakClient } from '../soak-client.ts';
import type { Organization } from '../soak-config.ts';
import type { Material } from './material.ts';

/** One kind of load: work that a client repeats. */
export interface Load {
  readonly name: string;
  readonly organization: Organization;
  readonly site: 'main' | 'small';
  /** Between two of its rounds, on average, in ms. */
  readonly pauseMs: number;
  /**
   * Runs the load once. Errors of the service go to the ledger, not to the caller.
   * @param at number of the round, from 0.
   */
  round(client: SoakClient, material: Material, at: number): Promise<void>;
}
