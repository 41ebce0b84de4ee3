/**
 * A language model that is downloaded and loaded by its first request, and unloaded when it is idle. Requests that cannot wait
 * get 503 `model_loading`, while the download and the load continue.
 */

import { ServiceError, shuttingDown } from '../../contract/core/error.ts';
import type { Logger } from '../../contract/core/logger.ts';
import type { LoadReport, LoadState, ReadyReport } from '../../contract/engines/engine.ts';
import type { PromptStart, TextEngine, TextEvent, TextRequest } from '../../contract/engines/text.ts';
import { waitForAbort } from '../../kit/async/wait-for-abort.ts';
import { loadReport, percentOf, type SharedDownload } from './shared-download.ts';

/** Maximum time that a request waits for the load of a model whose files are on disk. */
const LOAD_WAIT_MS = 60_000;
/** Range of `retry-after` in seconds. */
const MIN_RETRY_S = 2;
const MAX_RETRY_S = 30;
/** `retry-after` while the remaining time is unknown. */
const DEFAULT_RETRY_S = 10;

export interface OnDemandOptions {
  /** Model id, for messages to clients. */
  readonly model: string;
  /** Configured context, until the model reports its own. */
  readonly contextTokens: number;
  readonly download: SharedDownload;
  /** Loads the model from its files on disk. */
  readonly open: () => Promise<TextEngine>;
  /** Time without requests after which the model is unloaded; 0: never. */
  readonly idleMs: number;
  readonly log: Logger;
  /** Default: one minute. */
  readonly loadWaitMs?: number | undefined;
}

/** A running download and load. */
interface Opening {
  readonly done: Promise<TextEngine>;
  phase: 'downloading' | 'loading';
}

export class OnDemandTextEngine implements TextEngine {
  readonly #options: OnDemandOptions;
  readonly #closed = new AbortController();
  #engine: TextEngine | undefined;
  #opening: Opening | undefined;
  /** The running unload. */
  #unloading: Promise<void> | undefined;
  /** What the last attempt failed at. */
  #failed: 'download' | 'load' | undefined;
  #requests = 0;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: OnDemandOptions) {
    this.#options = options;
  }

  get contextTokens(): number | undefined {
    return this.#engine?.contextTokens ?? this.#options.contextTokens;
  }

  /** @throws ServiceError `overloaded` (`model_loading`) while the model is not loaded; see {@link TextEngine.generate}. */
  async *generate(request: TextRequest, signal: AbortSignal): AsyncGenerator<TextEvent, void, undefined> {
    this.#requests += 1;
    clearTimeout(this.#idleTimer);
    try {
      const engine = this.#engine ?? (await this.#loaded(signal));
      yield* engine.generate(request, signal);
    } finally {
      this.#requests -= 1;
      this.#scheduleUnload();
    }
  }

  /** @throws ServiceError `overloaded` (`model_loading`) while the model is not loaded. */
  async prepare(start: PromptStart, signal: AbortSignal): Promise<void> {
    this.#requests += 1;
    clearTimeout(this.#idleTimer);
    try {
      const engine = this.#engine ?? (await this.#loaded(signal));
      await engine.prepare?.(start, signal);
    } finally {
      this.#requests -= 1;
      this.#scheduleUnload();
    }
  }

  load(): void {
    if (this.#engine === undefined && !this.#closed.signal.aborted) this.#opening ??= this.#open();
  }

  ready(): ReadyReport {
    const state = this.#state();
    if (this.#engine !== undefined) return { ...this.#engine.ready(), load: { state } };
    const load = loadReport(state, this.#options.download.progress);
    return {
      // A model that is not loaded yet accepts work: its first request loads it.
      ready: !this.#closed.signal.aborted && state !== 'failed',
      detail: this.#detail(load),
      load,
    };
  }

  async close(): Promise<void> {
    this.#closed.abort(shuttingDown());
    clearTimeout(this.#idleTimer);
    await this.#opening?.done.catch(() => undefined);
    await Promise.all([this.#unloading, this.#engine?.close()]);
  }

  #state(): LoadState {
    if (this.#engine !== undefined) return 'loaded';
    if (this.#opening !== undefined) return this.#opening.phase;
    return this.#failed === undefined ? 'not_loaded' : 'failed';
  }

  #detail({ state, percent }: LoadReport): string {
    switch (state) {
      case 'downloading':
        return percent === undefined ? 'downloading' : `downloading, ${percent} %`;
      case 'failed':
        return `the ${this.#failed} failed; the next request retries it`;
      case 'not_loaded':
        return 'not loaded; the first request loads it';
      default:
        return state;
    }
  }

  /** Starts or joins the load, and waits for it if the files are on disk. */
  async #loaded(signal: AbortSignal): Promise<TextEngine> {
    this.#closed.signal.throwIfAborted();
    const failed = this.#failed;
    this.#opening ??= this.#open();
    const { done } = this.#opening;
    if (this.#opening.phase === 'downloading') throw this.#loadingError(failed);
    const stopWaiting = new AbortController();
    const timeout = setTimeout(() => stopWaiting.abort(), this.#options.loadWaitMs ?? LOAD_WAIT_MS);
    try {
      const stopped = waitForAbort(AbortSignal.any([signal, stopWaiting.signal])).then(() => undefined);
      const engine = await Promise.race([done, stopped]);
      if (engine !== undefined) return engine;
      signal.throwIfAborted();
      throw this.#loadingError(failed);
    } finally {
      clearTimeout(timeout);
      stopWaiting.abort();
    }
  }

  #open(): Opening {
    const { download } = this.#options;
    // After a failed load the files are verified, because one of them may be damaged.
    const isDownload = this.#failed !== undefined || !download.isOnDisk();
    // In the next tick, because it changes the phase of the value that is returned here.
    const done = Promise.resolve().then(() => this.#downloadAndLoad(isDownload));
    // Requests that wait receive the error; without any, it is only logged.
    done.catch(() => undefined);
    return { done, phase: isDownload ? 'downloading' : 'loading' };
  }

  async #downloadAndLoad(isDownload: boolean): Promise<TextEngine> {
    const { model, download, open, log } = this.#options;
    let step: 'download' | 'load' = 'download';
    try {
      // Two copies of the model might not fit in memory.
      await this.#unloading;
      if (isDownload) {
        log.info('downloading a model');
        await Promise.race([download.run(), this.#rejectWhenClosed()]);
      }
      step = 'load';
      if (this.#opening !== undefined) this.#opening.phase = 'loading';
      const engine = await open();
      if (this.#closed.signal.aborted) {
        await engine.close();
        throw this.#closed.signal.reason;
      }
      this.#engine = engine;
      this.#failed = undefined;
      log.info('loaded a model');
      return engine;
    } catch (error) {
      this.#closed.signal.throwIfAborted();
      this.#failed = step;
      log.warn(`the ${step} of a model failed`, {
        reason: error instanceof Error ? error.message : 'unknown',
      });
      throw new ServiceError(
        'internal',
        `Model '${model}' could not be loaded; the next request retries it.`,
        {
          code: 'server_error',
          cause: error,
        },
      );
    } finally {
      this.#opening = undefined;
      this.#scheduleUnload();
    }
  }

  async #rejectWhenClosed(): Promise<never> {
    await waitForAbort(this.#closed.signal);
    throw this.#closed.signal.reason;
  }

  #loadingError(failed: 'download' | 'load' | undefined): ServiceError {
    const { model, download } = this.#options;
    const { remainingS = DEFAULT_RETRY_S } = download.progress ?? {};
    const retryAfterS = Math.round(Math.min(MAX_RETRY_S, Math.max(MIN_RETRY_S, remainingS)));
    const percent = percentOf(download.progress) ?? 0;
    const progress =
      this.#opening?.phase === 'downloading' ? `is being downloaded: ${percent} % done` : 'is being loaded';
    const earlier = failed === undefined ? '' : ` The last ${failed} failed and is retried.`;
    return new ServiceError(
      'overloaded',
      `Model '${model}' ${progress}.${earlier} Retry in ${retryAfterS} s.`,
      {
        code: 'model_loading',
        retryAfterS,
      },
    );
  }

  #scheduleUnload(): void {
    const { idleMs } = this.#options;
    clearTimeout(this.#idleTimer);
    if (idleMs === 0 || this.#requests > 0 || this.#engine === undefined || this.#closed.signal.aborted)
      return;
    this.#idleTimer = setTimeout(() => this.#unload(), idleMs);
    this.#idleTimer.unref();
  }

  #unload(): void {
    const { log } = this.#options;
    const engine = this.#engine;
    this.#engine = undefined;
    log.info('unloading an idle model');
    const closing = engine?.close().catch((error: unknown) => log.error('unloading a model failed', error));
    this.#unloading = Promise.resolve(closing).then(() => {
      this.#unloading = undefined;
    });
  }
}
