import { SpareProcess } from '../../kit/process/spare-process.ts';
import { MediaProcess, type MediaProcessOptions } from './media-process.ts';

/** The media processes of the server: one per job, and a spare one that is already started for the next job. */
export class MediaProcessPool {
  readonly #spare: SpareProcess<MediaProcess>;
  readonly #working = new Set<MediaProcess>();

  constructor(options: MediaProcessOptions) {
    this.#spare = new SpareProcess(() => new MediaProcess(options));
    this.#spare.prepare();
  }

  /** Number of processes with a job. */
  get working(): number {
    return this.#working.size;
  }

  /**
   * Returns a process for one job, to be passed to {@link release}. Starts the next spare process.
   * @throws MediaProcessLost `not-started` if the system cannot start a process; Error after {@link close}.
   */
  acquire(): MediaProcess {
    const process = this.#spare.acquire();
    this.#working.add(process);
    this.#spare.prepare();
    return process;
  }

  /** Ends an acquired process. Idempotent. */
  async release(process: MediaProcess): Promise<void> {
    this.#working.delete(process);
    await process.kill();
  }

  /** Ends every process. Idempotent. */
  async close(): Promise<void> {
    const working = [...this.#working];
    this.#working.clear();
    await Promise.all([this.#spare.close(), ...working.map((process) => process.kill())]);
  }
}
