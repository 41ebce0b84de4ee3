/** Download of the weights of a model, shared by all model ids with these weights. */

import { shuttingDown } from '../../contract/core/error.ts';
import type { LoadReport, LoadState } from '../../contract/engines/engine.ts';
import { type FetchProgress, fetchProgress } from '../../models/fetch-progress.ts';
import type { Progress } from '../../models/progress.ts';

/** Weights that may have to be downloaded. */
export interface Weights {
  /** Whether all files are in the cache. Only sizes are checked. */
  isOnDisk(): boolean;
  /**
   * Downloads missing files and verifies the checksum of existing ones. A later call resumes an aborted download.
   * @throws ModelFetchError if no source delivered the files; the signal's reason after an abort.
   */
  fetch(signal: AbortSignal, progress: Progress): Promise<void>;
}

export interface SharedDownloadOptions {
  readonly weights: Weights;
  /** Called with each note about the download, for the log. */
  readonly onNote: (note: string) => void;
  /** Monotonic time in ms. */
  readonly nowMs: () => number;
}

export class SharedDownload {
  readonly #options: SharedDownloadOptions;
  readonly #stop = new AbortController();
  #running: { readonly done: Promise<void>; readonly progress: FetchProgress } | undefined;

  constructor(options: SharedDownloadOptions) {
    this.#options = options;
  }

  isOnDisk(): boolean {
    return this.#options.weights.isOnDisk();
  }

  /** Progress of the running download; undefined if none is running. */
  get progress(): FetchProgress | undefined {
    return this.#running?.progress;
  }

  /** Starts the download, or joins the running one. @throws errors of the download; `overloaded` after {@link close}. */
  run(): Promise<void> {
    this.#running ??= this.#start();
    return this.#running.done;
  }

  /** Stops the download. Received bytes stay on disk. Idempotent. */
  async close(): Promise<void> {
    this.#stop.abort(shuttingDown());
    await this.#running?.done.catch(() => undefined);
  }

  #start() {
    const { weights, onNote, nowMs } = this.#options;
    const progress = fetchProgress(onNote, nowMs);
    const fetch = async () => {
      try {
        this.#stop.signal.throwIfAborted();
        await weights.fetch(this.#stop.signal, progress);
      } finally {
        this.#running = undefined;
      }
    };
    return { done: fetch(), progress };
  }
}

/** Whole percent of a download; undefined while its size is unknown. */
export function percentOf({ doneBytes, totalBytes }: Partial<FetchProgress> = {}): number | undefined {
  if (doneBytes === undefined || totalBytes === undefined) return undefined;
  return Math.min(100, Math.floor((100 * doneBytes) / totalBytes));
}

/** The state of a model, with the progress of its download while that runs and its size is known. */
export function loadReport(state: LoadState, progress: FetchProgress | undefined): LoadReport {
  const percent = state === 'downloading' ? percentOf(progress) : undefined;
  const { doneBytes, totalBytes } = progress ?? {};
  if (percent === undefined || doneBytes === undefined || totalBytes === undefined) return { state };
  return { state, percent, doneBytes, totalBytes };
}
