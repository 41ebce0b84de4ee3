import type { SoakClient } from '../site/soak-client.ts';
import type { Organization } from '../site/soak-config.ts';
import type { Material } from './material.ts';

/** One kind of load: work that a client repeats. */
export interface Load {
  readonly name: string;
  readonly organization: Organization;
  readonly site: 'main' | 'small';
  /** Average pause between two rounds in ms. */
  readonly pauseMs: number;
  /**
   * Runs the load once. Errors of the service are recorded in the ledger and not thrown.
   * @param at number of the round, from 0.
   */
  round(client: SoakClient, material: Material, at: number): Promise<void>;
}
