import type { Migration, MigrationDialect } from './migration.ts';
import { usageAndKeys } from './migrations/0001-usage-and-keys.ts';
import { transcripts } from './migrations/0002-transcripts.ts';
import { organizationsAndResponses } from './migrations/0003-organizations-and-responses.ts';
import { callsAndCredits } from './migrations/0004-calls-and-credits.ts';
import { filesAndBatches } from './migrations/0005-files-and-batches.ts';
import { organizationsWithCredits } from './migrations/0006-organizations-with-credits.ts';
import { liveResponses } from './migrations/0007-live-responses.ts';
import { voices } from './migrations/0008-voices.ts';
import { videos } from './migrations/0009-videos.ts';
import { rolesAndUsageDays } from './migrations/0010-roles-and-usage-days.ts';
import { videoNotes } from './migrations/0011-video-notes.ts';
import { pluginSwitches } from './migrations/0012-plugin-switches.ts';
import { jobCauses } from './migrations/0013-job-causes.ts';
import { endVoiceImprovement } from './migrations/0014-end-voice-improvement.ts';
import { lexicons } from './migrations/0015-lexicons.ts';

/**
 * Migrations from an empty database to the current schema, for both engines, in the order of their numbers. The database
 * stores the number of the last applied one. Never change or reorder a released migration; add another one.
 */
export const MIGRATIONS: readonly Migration[] = [
  usageAndKeys,
  transcripts,
  organizationsAndResponses,
  callsAndCredits,
  filesAndBatches,
  organizationsWithCredits,
  liveResponses,
  voices,
  videos,
  rolesAndUsageDays,
  videoNotes,
  pluginSwitches,
  jobCauses,
  endVoiceImprovement,
  lexicons,
];

/** The SQL statements of every migration. */
export function migrationSql(dialect: MigrationDialect): readonly (readonly string[])[] {
  return MIGRATIONS.map((migration) =>
    migration(dialect).map((statement) =>
      typeof statement === 'string' ? statement : statement.compile().sql,
    ),
  );
}
