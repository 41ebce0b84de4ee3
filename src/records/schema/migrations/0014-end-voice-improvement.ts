import type { Migration } from '../migration.ts';

/** Stored voices are no longer improved by jobs. Older nodes do not queue them again. */
export const endVoiceImprovement: Migration = () => [
  'UPDATE voices SET is_improving = 0 WHERE is_improving = 1',
  `DELETE FROM jobs WHERE kind = 'voice'`,
];
