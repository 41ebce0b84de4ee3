import { SQLiteError } from 'bun:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

const PAUSE_MS = 50;
/** Longer than any statement of `bun run keys` and the checkpoint of a backup. */
const LOCK_TIMEOUT_MS = 30_000;

/**
 * Runs a statement and retries it while another process has locked the file. SQLite's own busy timeout would block the main
 * thread.
 * @throws the error of the statement; SQLITE_BUSY only after 30 s.
 */
export async function retryWhileLocked<T>(statement: () => T | Promise<T>): Promise<T> {
  for (let waitedMs = 0; ; waitedMs += PAUSE_MS) {
    try {
      return await statement();
    } catch (error) {
      const isBusy = error instanceof SQLiteError && error.code === 'SQLITE_BUSY';
      if (!isBusy || waitedMs >= LOCK_TIMEOUT_MS) throw error;
    }
    await sleep(PAUSE_MS);
  }
}
