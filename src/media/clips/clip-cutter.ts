import { ClipJobs, type ClipJobsOptions } from '../process/clip-jobs.ts';
import type { ClipCut, CutClip } from '../process/clip-protocol.ts';

export type { ClipCut, CutClip };

/** Re-encodes parts of clips, each in a separate process. */
export interface ClipCutter {
  /**
   * Writes a part of a clip as MP4 with H.264 and AAC, with a constant frame rate, the mean rate of the clip.
   * @throws ServiceError `invalid_request`, param `video`, if the clip cannot be read or the part has no
   * frames; `overloaded` if too many clips are being cut; the signal's reason after an abort.
   */
  cut(path: string, to: string, part: ClipCut, signal: AbortSignal): Promise<CutClip>;
  /** Ends every process. Idempotent. */
  close(): Promise<void>;
}

const MAX_OPEN = 2;
/** Thirty seconds of 1080p at 60 fps take minutes, and longer on a loaded machine. */
const STALL_TIMEOUT_MS = 600_000;
const PROCESSOR_LIMIT_S = 600;
const MEMORY_LIMIT_BYTES = 2 ** 30;

/** @param options `environment`: the complete environment of the processes. */
export function clipCutter(options: Pick<ClipJobsOptions, 'environment'>): ClipCutter {
  const jobs = new ClipJobs({
    ...options,
    maxOpen: MAX_OPEN,
    stallTimeoutMs: STALL_TIMEOUT_MS,
    processorLimitS: PROCESSOR_LIMIT_S,
    memoryLimitBytes: MEMORY_LIMIT_BYTES,
  });
  return {
    cut: async (path, to, part, signal) =>
      (await jobs.run({ kind: 'cut', path, to, ...part }, 'video', signal)).clip,
    close: () => jobs.close(),
  };
}
