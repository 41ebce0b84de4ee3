import { stat } from 'node:fs/promises';
import type { ClipFacts, ClipReader } from '../../contract/engines/video.ts';
import { ClipJobs, type ClipJobsOptions } from '../process/clip-jobs.ts';

export interface ClipReaderOptions extends Pick<ClipJobsOptions, 'environment' | 'entry'> {
  /** Clips read at once at most. */
  readonly maxOpen?: number;
  /** How long a clip is waited for when its process uses no processor, as on a busy machine. */
  readonly stallLimitMs?: number;
  /** Processor time for one clip, in whole seconds. */
  readonly processorLimitS?: number;
  /** A process whose resident memory passes this is killed. */
  readonly memoryLimitBytes?: number;
}

const MAX_OPEN = 4;
const STALL_LIMIT_MS = 15_000;
/** The largest clip that is taken needs about two. */
const PROCESSOR_LIMIT_S = 4;
/** A clip of 1080p takes 130 MiB, the largest frames that are allowed 620. */
const MEMORY_LIMIT_BYTES = 2 ** 30;

/** Reads clips: nothing is started before there is one. */
export function clipReader(options: ClipReaderOptions): ClipReader {
  return new ProcessClipReader(options);
}

class ProcessClipReader implements ClipReader {
  readonly #jobs: ClipJobs;

  constructor(options: ClipReaderOptions) {
    this.#jobs = new ClipJobs({
      maxOpen: MAX_OPEN,
      stallLimitMs: STALL_LIMIT_MS,
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
