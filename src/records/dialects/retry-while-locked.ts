import { SQLiteError } from 'bun:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

const PAUSE_MS = 50;
/** Longer than any statement of `bun run keys` or a backup's checkpoint; then the file is really stuck. */
const PATIENCE_MS = 30_000;

/**
 * Runs a statement, and again a little later while another process holds the file. SQLite could wait by
 * itself, but it would stop the serving thread meanwhile.
 * @throws what the statement throws, SQLITE_BUSY only after 30 s.
 */
export async function whenFree<T>(statement: () => T | Promise<T>): Promise<T> {
  for (let waitedMs = 0; ; waitedMs += PAUSE_MS) {
    try {
      return await statement();
    } catch (error) {
      const isBusy = error instanceof SQLiteError && error.code === 'SQLITE_BUSY';
      if (!isBusy || waitedMs >= PATIENCE_MS) throw error;
    }
    await sleep(PAUSE_MS);
  }
}
