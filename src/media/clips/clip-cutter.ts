import { ClipJobs, type ClipJobsOptions } from '../process/clip-jobs.ts';
import type { ClipCut, CutClip } from '../process/clip-protocol.ts';

export type { ClipCut, CutClip };

/** Encodes parts of clips again, each in a process of its own. */
export interface ClipCutter {
  /**
   * Writes a part of a clip as MP4 with H.264 and AAC, its frames evenly at the clip's mean rate.
   * @throws ServiceError `invalid_request`, param `video`, when the clip cannot be read or the part holds no frame;
   *   `overloaded` when too many are cut; the signal's reason after an abort.
   */
  cut(path: string, to: string, part: ClipCut, signal: AbortSignal): Promise<CutClip>;
  /** Ends every process. Idempotent. */
  close(): Promise<void>;
}

const MAX_OPEN = 2;
/** Thirty seconds of 1080p at 60 frames a second take minutes, and longer where others want the cores. */
const STALL_LIMIT_MS = 600_000;
const PROCESSOR_LIMIT_S = 600;
const MEMORY_LIMIT_BYTES = 2 ** 30;

/** @param options `environment`: everything that the processes find in theirs. */
export function clipCutter(options: Pick<ClipJobsOptions, 'environment'>): ClipCutter {
  const jobs = new ClipJobs({
    ...options,
    maxOpen: MAX_OPEN,
    stallLimitMs: STALL_LIMIT_MS,
    processorLimitS: PROCESSOR_LIMIT_S,
    memoryLimitBytes: MEMORY_LIMIT_BYTES,
  });
  return {
    cut: async (path, to, part, signal) =>
      (await jobs.run({ kind: 'cut', path, to, ...part }, 'video', signal)).clip,
    close: () => jobs.close(),
  };
}
