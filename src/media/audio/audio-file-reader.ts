/** Reads audio files in separate processes, one per file (docs/decisions/a-process-for-each-file.md). */

import { stat } from 'node:fs/promises';
import { invalidRequest, ServiceError, shuttingDown } from '../../contract/core/error.ts';
import type { AllowedFormats, AudioFileReader, OpenAudioFile } from '../../contract/engines/audio-file.ts';
import { lossError } from '../process/errors.ts';
import { MediaProcessLost } from '../process/media-process.ts';
import { MediaProcessPool } from '../process/process-pool.ts';
import { type AudioFileLimits, AudioFileSamples, type ReadParams } from './audio-file-samples.ts';

export interface AudioFileReaderOptions {
  /** The complete environment of the processes: variables that libraries read, and no keys. */
  readonly environment: Readonly<Record<string, string>>;
  /** Maximum duration of a file in seconds. */
  readonly maxS?: number;
  /** Maximum number of open files; further files are rejected. */
  readonly maxOpen?: number;
  /** A decoder that sends nothing for this time while data is awaited is killed, in ms. */
  readonly stallTimeoutMs?: number;
  /** A decoder with more resident memory is killed; an idle one has about 75 MB. */
  readonly memoryLimitBytes?: number;
  /** Path of the entry file of the processes, for tests. */
  readonly entry?: string;
}

const MAX_S = 4 * 3600;
const MAX_OPEN = 8;
const STALL_TIMEOUT_MS = 10_000;
const MEMORY_LIMIT_BYTES = 512 * 2 ** 20;
const RETRY_AFTER_S = 2;
const ATTEMPTS = 2;

/** Creates the reader and starts one spare process. */
export function audioFileReader(options: AudioFileReaderOptions): AudioFileReader {
  return new ProcessAudioFileReader(options);
}

class ProcessAudioFileReader implements AudioFileReader {
  readonly maxOpen: number;
  readonly #limits: AudioFileLimits;
  readonly #processes: MediaProcessPool;
  #closed = false;

  constructor(options: AudioFileReaderOptions) {
    this.#limits = {
      maxS: options.maxS ?? MAX_S,
      stallTimeoutMs: options.stallTimeoutMs ?? STALL_TIMEOUT_MS,
      memoryLimitBytes: options.memoryLimitBytes ?? MEMORY_LIMIT_BYTES,
    };
    this.maxOpen = options.maxOpen ?? MAX_OPEN;
    this.#processes = new MediaProcessPool({ ...options, ...this.#limits });
  }

  async openFile(
    path: string,
    rateHz: number | 'own',
    field: string,
    signal: AbortSignal,
    formats?: AllowedFormats,
  ): Promise<OpenAudioFile> {
    this.#checkRoom();
    const { size } = await stat(path);
    if (size === 0) throw invalidRequest(`The file in '${field}' is empty.`, field, 'invalid_value');
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#start(path, { rateHz, field, signal, formats });
      } catch (error) {
        // The spare process may have crashed while it was idle; this is not caused by the file.
        if (!(error instanceof MediaProcessLost)) throw error;
        if (attempt === ATTEMPTS) throw lossError(error.reason, field, this.#limits);
      }
    }
  }

  async #start(path: string, params: ReadParams): Promise<OpenAudioFile> {
    params.signal.throwIfAborted();
    this.#checkRoom();
    const samples = new AudioFileSamples({
      process: this.#processes.acquire(),
      release: (process) => this.#processes.release(process),
      limits: this.#limits,
      ...params,
    });
    try {
      return { ...(await samples.start(path)), samples };
    } catch (error) {
      await samples.return();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#processes.close();
  }

  #checkRoom(): void {
    if (this.#closed) throw shuttingDown();
    if (this.#processes.working < this.maxOpen) return;
    throw new ServiceError(
      'overloaded',
      `The server has reached its limit of ${this.maxOpen} open audio files. Retry later.`,
      { code: 'server_overloaded', retryAfterS: RETRY_AFTER_S },
    );
  }
}
