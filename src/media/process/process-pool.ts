import { MediaProcess, MediaProcessLost, type MediaProcessOptions } from './media-process.ts';

/**
 * The media processes of this service: one for each job, and one that is already started for the next job, because
 * a start takes a few tenths of a second.
 */
export class MediaProcesses {
  readonly #options: MediaProcessOptions;
  readonly #working = new Set<MediaProcess>();
  #spare: MediaProcess | undefined;
  #closed = false;

  constructor(options: MediaProcessOptions) {
    this.#options = options;
    this.#spare = this.#start();
  }

  /** Processes that have a job. */
  get working(): number {
    return this.#working.size;
  }

  /**
   * A process for one job, to be given back with {@link release}. The next one is started at once.
   * @throws MediaProcessLost `not-started` when the system starts none.
   */
  take(): MediaProcess {
    if (this.#closed) throw new Error('media processes are closed');
    const process = this.#spare?.lost === false ? this.#spare : this.#start();
    if (process === undefined) throw new MediaProcessLost('not-started');
    this.#working.add(process);
    this.#spare = this.#start();
    return process;
  }

  /** Undefined when the system starts none, as when it has no more files or processes to give. */
  #start(): MediaProcess | undefined {
    try {
      return new MediaProcess(this.#options);
    } catch {
      return undefined;
    }
  }

  /** Ends a process that was taken. Idempotent. */
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
