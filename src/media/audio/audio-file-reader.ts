/**
 * Reads audio files in processes of their own, one file each (docs/decisions/a-process-for-each-file.md).
 */

import { stat } from 'node:fs/promises';
import { invalidRequest, ServiceError, shuttingDown } from '../../contract/core/error.ts';
import type { AllowedFormats, AudioFileReader, OpenAudioFile } from '../../contract/engines/audio-file.ts';
import { lossError } from '../process/errors.ts';
import { MediaProcessLost } from '../process/media-process.ts';
import { MediaProcesses } from '../process/process-pool.ts';
import { type AskedSamples, type AudioFileLimits, AudioFileSamples } from './audio-file-samples.ts';

export interface AudioFileReaderOptions {
  /** Everything that the processes find in their environment: what libraries read, and no keys. */
  readonly environment: Readonly<Record<string, string>>;
  /** Longest audio of one file, in seconds. */
  readonly maxS?: number;
  /** Files open at once; one more is refused. */
  readonly maxOpen?: number;
  /** A decoder that is waited for and gives nothing for so long is killed. */
  readonly stallLimitMs?: number;
  /** A decoder whose resident memory passes this is killed; an idle one has about 75 MB. */
  readonly memoryLimitBytes?: number;
  /** Path of the processes' entry file, for tests. */
  readonly entry?: string;
}

const MAX_S = 4 * 3600;
const MAX_OPEN = 8;
const STALL_LIMIT_MS = 10_000;
const MEMORY_LIMIT_BYTES = 512 * 2 ** 20;
const RETRY_AFTER_S = 2;
const ATTEMPTS = 2;

/** Starts reading: one process stands by from now on. */
export function audioFileReader(options: AudioFileReaderOptions): AudioFileReader {
  return new ProcessAudioFileReader(options);
}

class ProcessAudioFileReader implements AudioFileReader {
  readonly maxOpen: number;
  readonly #limits: AudioFileLimits;
  readonly #processes: MediaProcesses;
  #closed = false;

  constructor(options: AudioFileReaderOptions) {
    this.#limits = {
      maxS: options.maxS ?? MAX_S,
      stallLimitMs: options.stallLimitMs ?? STALL_LIMIT_MS,
      memoryLimitBytes: options.memoryLimitBytes ?? MEMORY_LIMIT_BYTES,
    };
    this.maxOpen = options.maxOpen ?? MAX_OPEN;
    this.#processes = new MediaProcesses({ ...options, ...this.#limits });
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
        // The spare may have died unseen while it waited, which says nothing about the file.
        if (!(error instanceof MediaProcessLost)) throw error;
        if (attempt === ATTEMPTS) throw lossError(error.reason, field, this.#limits);
      }
    }
  }

  async #start(path: string, asked: AskedSamples): Promise<OpenAudioFile> {
    asked.signal.throwIfAborted();
    this.#checkRoom();
    const samples = new AudioFileSamples({
      process: this.#processes.take(),
      release: (process) => this.#processes.release(process),
      limits: this.#limits,
      ...asked,
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
      `The server is already reading ${this.maxOpen} audio files, which is its limit. Try again shortly.`,
      { code: 'server_overloaded', retryAfterS: RETRY_AFTER_S },
    );
  }
}
