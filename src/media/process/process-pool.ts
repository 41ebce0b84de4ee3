import { MediaProcess, MediaProcessLost, type MediaProcessOptions } from './media-process.ts';

/**
 * The media processes of the server: one per job, and a spare one that is already started for the next job,
 * because a start takes a few tenths of a second.
 */
export class MediaProcessPool {
  readonly #options: MediaProcessOptions;
  readonly #working = new Set<MediaProcess>();
  #spare: MediaProcess | undefined;
  #closed = false;

  constructor(options: MediaProcessOptions) {
    this.#options = options;
    this.#spare = this.#start();
  }

  /** Number of processes with a job. */
  get working(): number {
    return this.#working.size;
  }

  /**
   * Returns a process for one job, to be passed to {@link release}. Starts the next spare process.
   * @throws MediaProcessLost `not-started` if the system cannot start a process.
   */
  take(): MediaProcess {
    if (this.#closed) throw new Error('media processes are closed');
    const process = this.#spare?.lost === false ? this.#spare : this.#start();
    if (process === undefined) throw new MediaProcessLost('not-started');
    this.#working.add(process);
    this.#spare = this.#start();
    return process;
  }

  /** Undefined if the system cannot start a process, for example without free file descriptors. */
  #start(): MediaProcess | undefined {
    try {
      return new MediaProcess(this.#options);
    } catch {
      return undefined;
    }
  }

  /** Ends an acquired process. Idempotent. */
  async release(process: MediaProcess): Promise<void> {
    this.#working.delete(process);
    await process.kill();
  }

  /** Ends every process. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    const all = [...this.#working, ...(this.#spare ? [this.#spare] : [])];
    this.#working.clear();
    this.#spare = undefined;
    await Promise.all(all.map((process) => process.kill()));
  }
}
