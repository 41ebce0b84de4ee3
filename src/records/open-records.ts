import type { DatabaseSettings } from '../contract/core/settings.ts';
import { openPostgres } from './dialects/postgres-records.ts';
import { openSqlite } from './dialects/sqlite-records.ts';
import type { Records } from './schema/records.ts';

/**
 * Opens the database that DATABASE_URL or DATA_DIR names and brings its tables up to date.
 * @param onLost told when an idle connection to a server breaks; the next query makes a new one.
 * @param failed told of each statement that fails.
 * @throws DatabaseError (a StartError) when it cannot be reached, is not ours, or is of a later build.
 */
export async function openRecords(
  settings: DatabaseSettings,
  onLost: (error: Error) => void = () => undefined,
  failed: () => void = () => undefined,
): Promise<Records> {
  if (settings.kind === 'sqlite') return openSqlite(settings.path, failed);
  return openPostgres(settings, onLost, failed);
}
