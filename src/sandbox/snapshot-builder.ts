import { join } from 'node:path';
import type { Logger } from '../contract/core/logger.ts';
import { limitedCommand, OneShotProcess } from '../kit/process/one-shot-process.ts';

const ENTRY = join(import.meta.dirname, 'snapshot-worker.ts');
/** Another service that shares the folder may be building the same snapshot. */
const TIMEOUT_MS = 120_000;

/** Builds the memory snapshot of Python, in a process of its own. */
export class SnapshotBuilder {
  readonly #modelsDir: string;
  readonly #log: Logger;
  #process: OneShotProcess<'time'> | undefined;
  #attempt: Promise<void> | undefined;
  #closed = false;

  /** @param modelsDir folder of the snapshot. */
  constructor(modelsDir: string, log: Logger) {
    this.#modelsDir = modelsDir;
    this.#log = log;
  }

  /**
   * Resolves when the snapshot has been built. Later calls return the same attempt. A failure is logged and not an error,
   * because interpreters can start without a snapshot.
   */
  build(): Promise<void> {
    this.#attempt ??= this.#closed ? Promise.resolve() : this.#build();
    return this.#attempt;
  }

  /** Ends a running attempt. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#process?.kill();
  }

  async #build(): Promise<void> {
    try {
      const child = Bun.spawn({
        cmd: limitedCommand([], '--no-env-file', ENTRY, this.#modelsDir),
        env: {},
        cwd: '/',
        stdio: ['ignore', 'ignore', 'ignore'],
      });
      this.#process = new OneShotProcess(child, () => undefined);
      this.#process.setDeadline(TIMEOUT_MS, 'time');
      const exitCode = await child.exited;
      if (exitCode === 0 || this.#closed) return;
      this.#log.warn('Python snapshot could not be written, so interpreters start slowly', { exitCode });
    } catch (error) {
      this.#log.error('Python snapshot process failed to start', error);
    }
  }
}
