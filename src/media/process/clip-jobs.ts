import { stat } from 'node:fs/promises';
import { invalidRequest, ServiceError, shuttingDown } from '../../contract/core/error.ts';
import { unusableClipError } from './clip-errors.ts';
import type { ClipJob, ClipResult } from './clip-protocol.ts';
import { lossError } from './errors.ts';
import { MediaProcess, MediaProcessLost, type MediaProcessOptions } from './media-process.ts';
import type { FromMediaProcess } from './protocol.ts';

const RETRY_AFTER_S = 2;

export interface ClipJobsOptions extends MediaProcessOptions {
  /** Maximum number of concurrent jobs; each one is a process. */
  readonly maxOpen: number;
}

/** Runs clip jobs, each in its own process. */
export class ClipJobs {
  readonly #options: ClipJobsOptions;
  readonly #open = new Set<MediaProcess>();
  #closed = false;

  constructor(options: ClipJobsOptions) {
    this.#options = options;
  }

  /**
   * Runs a job.
   * @param field the request field that an error names.
   * @throws ServiceError `invalid_request` if the clip cannot be used or its decoder fails; `overloaded` if
   * too many jobs are running or no process can be started; the signal's reason; the system's error if the
   * file does not exist.
   */
  async run<Kind extends ClipJob['kind']>(
    job: Extract<ClipJob, { readonly kind: Kind }>,
    field: string,
    signal: AbortSignal,
  ): Promise<Extract<ClipResult, { readonly kind: Kind }>> {
    signal.throwIfAborted();
    this.#checkRoom();
    const { size } = await stat(job.path);
    if (size === 0) throw invalidRequest(`The file in '${field}' is empty.`, field, 'invalid_value');
    try {
      const answer = await this.#answer(job, signal);
      if (answer.kind === 'unusable') throw unusableClipError(answer.issue, field);
      if (answer.kind !== job.kind) throw new MediaProcessLost('credit-exceeded');
      return answer as Extract<ClipResult, { readonly kind: Kind }>;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof MediaProcessLost) throw lossError(error.reason, field, this.#options, 'clip');
      throw error;
    }
  }

  /** Ends every process. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#open].map((process) => process.kill()));
  }

  async #answer(job: ClipJob, signal: AbortSignal): Promise<FromMediaProcess> {
    this.#checkRoom();
    const process = new MediaProcess(this.#options);
    const stop = () => void process.kill();
    signal.addEventListener('abort', stop, { once: true });
    this.#open.add(process);
    try {
      process.runClipJob(job);
      return await process.next();
    } finally {
      signal.removeEventListener('abort', stop);
      await process.kill();
      this.#open.delete(process);
    }
  }

  #checkRoom(): void {
    if (this.#closed) throw shuttingDown();
    if (this.#open.size < this.#options.maxOpen) return;
    throw new ServiceError(
      'overloaded',
      `The server has reached its limit of ${this.#options.maxOpen} open clips. Retry later.`,
      { code: 'server_overloaded', retryAfterS: RETRY_AFTER_S },
    );
  }
}
