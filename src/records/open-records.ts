import type { DatabaseSettings } from '../contract/core/settings.ts';
import { openSqlite } from './dialects/sqlite-records.ts';
import type { Records } from './schema/records.ts';

/**
 * Opens the database of DATABASE_URL or DATA_DIR and migrates its tables.
 * @param onLost is called when an idle connection to a server breaks; the next query opens a new one.
 * @param failed is called for each statement that fails.
 * @throws DatabaseError (a StartError) if the database is unreachable, is not a database of this service, or has the schema
 *   of a newer build.
 */
export async function openRecords(
  settings: DatabaseSettings,
  onLost: (error: Error) => void = () => undefined,
  failed: (error: unknown) => void = () => undefined,
): Promise<Records> {
  if (settings.kind === 'sqlite') return openSqlite(settings.path, failed);
  // Imported only if needed, to start faster.
  const { openPostgres } = await import('./dialects/postgres-records.ts');
  return openPostgres(settings, onLost, failed);
}
