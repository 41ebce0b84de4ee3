import { MediaProcess, type MediaProcessOptions } from './media-process.ts';

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
    this.#spare = new MediaProcess(options);
  }

  /** Processes that have a job. */
  get working(): number {
    return this.#working.size;
  }

  /** A process for one job, to be given back with {@link release}. The next one is started at once. */
  take(): MediaProcess {
    if (this.#closed) throw new Error('media processes are closed');
    const process = this.#spare?.lost === false ? this.#spare : new MediaProcess(this.#options);
    this.#spare = new MediaProcess(this.#options);
    this.#working.add(process);
    return process;
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
