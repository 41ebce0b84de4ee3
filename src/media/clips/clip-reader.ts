import { stat } from 'node:fs/promises';
import type { ClipFacts, ClipReader } from '../../contract/engines/video.ts';
import { ClipJobs, type ClipJobsOptions } from '../process/clip-jobs.ts';

export interface ClipReaderOptions extends Pick<ClipJobsOptions, 'environment' | 'entry'> {
  /** Maximum number of clips that are read concurrently. */
  readonly maxOpen?: number;
  /** Timeout in ms while the process uses no CPU time, for example on a loaded machine. */
  readonly stallTimeoutMs?: number;
  /** CPU time limit per clip in whole seconds. */
  readonly processorLimitS?: number;
  /** A process with more resident memory is killed. */
  readonly memoryLimitBytes?: number;
}

const MAX_OPEN = 4;
const STALL_TIMEOUT_MS = 15_000;
/** The largest allowed clip needs about two. */
const PROCESSOR_LIMIT_S = 4;
/** A 1080p clip needs 130 MiB, the largest allowed frames 620 MiB. */
const MEMORY_LIMIT_BYTES = 2 ** 30;

/** Creates the reader; no process is started before the first clip. */
export function clipReader(options: ClipReaderOptions): ClipReader {
  return new ProcessClipReader(options);
}

class ProcessClipReader implements ClipReader {
  readonly #jobs: ClipJobs;

  constructor(options: ClipReaderOptions) {
    this.#jobs = new ClipJobs({
      maxOpen: MAX_OPEN,
      stallTimeoutMs: STALL_TIMEOUT_MS,
      processorLimitS: PROCESSOR_LIMIT_S,
      memoryLimitBytes: MEMORY_LIMIT_BYTES,
      ...options,
    });
  }

  async measure(path: string, field: string, signal: AbortSignal): Promise<ClipFacts> {
    const { facts } = await this.#jobs.run({ kind: 'measure', path }, field, signal);
    const { size } = await stat(path);
    return { ...facts, lengthBytes: size };
  }

  async thumbnail(path: string, to: string, signal: AbortSignal): Promise<void> {
    await this.#jobs.run({ kind: 'thumbnail', path, to }, 'video', signal);
  }

  async close(): Promise<void> {
    await this.#jobs.close();
  }
}
