/**
 * A model of the start whose files are not on disk, for example because the model hub could not be reached. It is downloaded
 * and loaded in the background until that succeeds, so that it delays neither the start nor stops the service.
 */

import { ServiceError, shuttingDown } from '../../contract/core/error.ts';
import type { Logger } from '../../contract/core/logger.ts';
import type { LoadState, ReadyReport, SttEngine, TtsEngine } from '../../contract/engines/engine.ts';
import type { TextEngine } from '../../contract/engines/text.ts';
import { waitForAbort } from '../../kit/async/wait-for-abort.ts';
import { loadReport, type SharedDownload } from './shared-download.ts';

/** Pause after a failed attempt. */
const RETRY_MS = 30_000;

export interface RetriedLoadOptions<Engine> {
  /** Model id, for messages to clients. */
  readonly model: string;
  readonly download: SharedDownload;
  /** Loads the model from its files on disk. */
  readonly load: () => Promise<Engine>;
  readonly log: Logger;
  readonly retryMs?: number | undefined;
}

/** An engine, once it has been downloaded and loaded. */
export class RetriedLoad<Engine extends { ready(): ReadyReport; close(): Promise<void> }> {
  readonly #options: RetriedLoadOptions<Engine>;
  readonly #closed = new AbortController();
  #step: 'download' | 'load' = 'download';
  /** What the last attempt failed at; undefined while the first one runs. */
  #failed: 'download' | 'load' | undefined;
  /** Whether an attempt runs. */
  #isActive = true;
  #engine: Engine | undefined;
  /** Ends the pause after a failed attempt; undefined outside a pause. */
  #endPause: (() => void) | undefined;

  constructor(options: RetriedLoadOptions<Engine>) {
    this.#options = options;
    void this.#run();
  }

  /** The loaded engine. @throws ServiceError `overloaded` (`model_loading`) until it is loaded. */
  get engine(): Engine {
    if (this.#engine !== undefined) return this.#engine;
    const { model, retryMs = RETRY_MS } = this.#options;
    const retryAfterS = Math.ceil(retryMs / 1000);
    throw new ServiceError(
      'overloaded',
      `Model '${model}' is unavailable: ${this.#detail(this.#state())}. Retry in ${retryAfterS} s.`,
      { code: 'model_loading', retryAfterS },
    );
  }

  /** The engine, or undefined until it is loaded. */
  get loaded(): Engine | undefined {
    return this.#engine;
  }

  /** Starts the next attempt now, if none runs. */
  retry(): void {
    this.#endPause?.();
  }

  ready(): ReadyReport {
    const state = this.#state();
    if (this.#engine !== undefined) return { ...this.#engine.ready(), load: { state } };
    const load = loadReport(state, this.#options.download.progress);
    return { ready: false, detail: this.#detail(state), load };
  }

  /** Stops the attempts and closes the engine; one that is being loaded is closed when it has loaded. Idempotent. */
  async close(): Promise<void> {
    this.#closed.abort(shuttingDown());
    await Promise.all([this.#options.download.close(), this.#engine?.close()]);
  }

  #state(): LoadState {
    if (this.#engine !== undefined) return 'loaded';
    if (!this.#isActive) return 'failed';
    return this.#step === 'download' ? 'downloading' : 'loading';
  }

  #detail(state: LoadState): string {
    const failed = this.#failed === undefined ? '' : `the ${this.#failed} failed and is tried again`;
    if (failed !== '' || state === 'failed') return failed;
    return state === 'downloading' ? 'it is being downloaded' : 'it is being loaded';
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    const { signal } = this.#closed;
    while (!signal.aborted && !(await this.#attempt())) {
      this.#isActive = false;
      const { promise: pause, resolve } = Promise.withResolvers<void>();
      this.#endPause = resolve;
      const timer = setTimeout(resolve, this.#options.retryMs ?? RETRY_MS);
      await Promise.race([pause, waitForAbort(signal)]);
      clearTimeout(timer);
      this.#endPause = undefined;
      this.#isActive = true;
    }
  }

  /** Returns whether the model is loaded. */
  async #attempt(): Promise<boolean> {
    const { download, load, log, model } = this.#options;
    try {
      this.#step = 'download';
      // After a failed load the files are verified, because one of them may be damaged.
      if (this.#failed === 'load' || !download.isOnDisk()) await download.run();
      this.#step = 'load';
      log.info('loading a model', { model });
      const engine = await load();
      if (this.#closed.signal.aborted) {
        await engine.close();
        return true;
      }
      this.#engine = engine;
      this.#failed = undefined;
      log.info('loaded a model', { model });
      return true;
    } catch (error) {
      if (this.#closed.signal.aborted) return true;
      // Logged once, because the model may be unavailable for hours.
      if (this.#failed !== this.#step) {
        const reason = error instanceof Error ? error.message : 'unknown';
        log.warn('a model is unavailable, its download or load is tried again', {
          model,
          failed: this.#step,
          reason,
        });
      }
      this.#failed = this.#step;
      return false;
    }
  }
}

/** A transcription engine that rejects requests until it is loaded. Its languages are unknown until then. */
export function retriedSttEngine(load: RetriedLoad<SttEngine>): SttEngine {
  return {
    get languages() {
      return load.loaded?.languages;
    },
    hasPreviews: true,
    async *transcribe(audio, request, signal) {
      yield* load.engine.transcribe(audio, request, signal);
    },
    load: () => load.retry(),
    ready: () => load.ready(),
    close: () => load.close(),
  };
}

/** What is known about a speech model before its files are on disk. */
export type ExpectedSpeech = Pick<
  TtsEngine,
  'rateHz' | 'compatibility' | 'voices' | 'languages' | 'languageOf'
>;

/**
 * A speech model that rejects requests until it is loaded. Until then any name may be that of a speaker, if requests can name
 * voices.
 */
export function retriedTtsEngine(load: RetriedLoad<TtsEngine>, expected: ExpectedSpeech): TtsEngine {
  const { compatibility, languages, languageOf, voices } = expected;
  return {
    compatibility,
    languages,
    ...(languageOf && { languageOf }),
    textLanguage: (request) => load.loaded?.textLanguage?.(request),
    voiceLanguage: (name) => load.loaded?.voiceLanguage?.(name),
    get rateHz() {
      return load.loaded?.rateHz ?? expected.rateHz;
    },
    get voices() {
      return load.loaded?.voices ?? voices;
    },
    ...(voices && { hasVoice: (name: string) => load.loaded?.hasVoice?.(name) ?? true }),
    async *synthesize(request, signal) {
      yield* load.engine.synthesize(request, signal);
    },
    load: () => load.retry(),
    ready: () => load.ready(),
    close: () => load.close(),
  };
}

/** A language model that rejects requests until it is loaded. */
export function retriedTextEngine(
  load: RetriedLoad<TextEngine>,
  contextTokens: number | undefined,
): TextEngine {
  return {
    get contextTokens() {
      return load.loaded?.contextTokens ?? contextTokens;
    },
    async *generate(request, signal) {
      yield* load.engine.generate(request, signal);
    },
    async prepare(start, signal) {
      await load.engine.prepare?.(start, signal);
    },
    load: () => load.retry(),
    ready: () => load.ready(),
    close: () => load.close(),
  };
}
