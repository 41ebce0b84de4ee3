import type { Migration } from '../migration.ts';

/** Organizations that have credits but no key. */
export const organizationsWithCredits: Migration = () => [
  `INSERT INTO organizations (id, created_at)
   SELECT organization, MIN(at) FROM credit_transfers
   WHERE organization NOT IN (SELECT id FROM organizations) GROUP BY organization`,
];
