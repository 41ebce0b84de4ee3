import type { Progress } from './progress.ts';

/** Progress of a set of downloads. */
export interface FetchProgress extends Progress {
  /** Bytes of all finished and running downloads. */
  readonly doneBytes: number;
  /** Bytes of all downloads of the current source; undefined until they are known. */
  readonly totalBytes: number | undefined;
  /** Estimated time until the end in seconds; undefined if it is unknown. */
  readonly remainingS: number | undefined;
}

/**
 * Sums the progress of all downloads of a set.
 * @param onNote called with each note.
 * @param nowMs monotonic time in ms.
 */
export function fetchProgress(onNote: (note: string) => void, nowMs: () => number): FetchProgress {
  let totalBytes: number | undefined;
  let finishedBytes = 0;
  let current = { doneBytes: 0, totalBytes: 0 };
  /** First progress of this run: bytes of an earlier run do not count towards the speed. */
  let first: { readonly atMs: number; readonly bytes: number } | undefined;
  return {
    get doneBytes() {
      return finishedBytes + current.doneBytes;
    },
    get totalBytes() {
      return totalBytes;
    },
    get remainingS() {
      if (first === undefined || totalBytes === undefined) return undefined;
      const received = this.doneBytes - first.bytes;
      const seconds = (nowMs() - first.atMs) / 1000;
      return received > 0 && seconds > 0 ? ((totalBytes - this.doneBytes) * seconds) / received : undefined;
    },
    startSet(bytes) {
      totalBytes = bytes;
      finishedBytes = 0;
      current = { doneBytes: 0, totalBytes: 0 };
      first = undefined;
    },
    startDownload(_, bytes) {
      current = { doneBytes: 0, totalBytes: bytes };
    },
    update(bytes) {
      current.doneBytes = bytes;
      first ??= { atMs: nowMs(), bytes: this.doneBytes };
    },
    finishDownload() {
      finishedBytes += current.totalBytes;
      current = { doneBytes: 0, totalBytes: 0 };
    },
    note: onNote,
  };
}
