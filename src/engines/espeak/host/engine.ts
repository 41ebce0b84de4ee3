/**
 * eSpeak NG in a process of its own, because of its licence (GPL-3.0) and because a crash in C must not end the synthesis of
 * others. It starts with the first request, so that unused languages need no memory.
 */

import { fileURLToPath } from 'node:url';
import { StartError } from '../../../contract/core/error.ts';
import type { Logger } from '../../../contract/core/logger.ts';
import { ModelUnavailableError } from '../../../inference/pool/model.ts';
import { SupervisedProcess } from '../../../inference/workers/supervised-process.ts';
import {
  type FromEspeak,
  type LoadEspeakLibrary,
  MAX_REQUEST_CHARACTERS,
  type ToEspeak,
} from '../shared/protocol.ts';

const WORKER_ENTRY = fileURLToPath(new URL('../worker/main.ts', import.meta.url));

/** A load takes 0.2 s; the first one on a machine also unpacks the files. */
const LOAD_TIMEOUT_MS = 20_000;
/** A request takes a few milliseconds. */
const REQUEST_TIMEOUT_MS = 10_000;
/** An inference process runs one step at a time, and each step has one request. */
const MAX_OPEN_REQUESTS = 16;

export interface EspeakOptions {
  readonly modelsDir: string;
  /** The whole environment of the process. */
  readonly environment: Readonly<Record<string, string>>;
  readonly log: Logger;
  /** Entry file of the process; overridden in tests. */
  readonly entry?: string;
  readonly requestTimeoutMs?: number;
}

interface Request {
  readonly message: ToEspeak;
  readonly result: PromiseWithResolvers<readonly string[] | undefined>;
}

export class EspeakEngine {
  readonly #options: EspeakOptions;
  #process: SupervisedProcess<LoadEspeakLibrary, undefined, ToEspeak, FromEspeak> | undefined;
  /** In order of arrival, by id. The first one is in the process while the process is loaded. */
  readonly #requests = new Map<number, Request>();
  #running: number | undefined;
  #lastId = 0;
  #isClosed = false;

  constructor(options: EspeakOptions) {
    this.#options = options;
  }

  /**
   * Returns the phonemes of each clause in IPA, with stress marks and with `^` between the letters of one sound.
   * @param voice language of eSpeak, such as `es` or `pt-br`.
   * @param clauses without punctuation, of at most {@link MAX_REQUEST_CHARACTERS} characters together.
   * @throws ModelUnavailableError if the process cannot be loaded, crashed or is overloaded; RangeError for longer clauses; Error
   *   for an unknown voice.
   */
  async phonemes(voice: string, clauses: readonly string[]): Promise<readonly string[]> {
    const characters = clauses.reduce((sum, clause) => sum + clause.length, 0);
    if (characters > MAX_REQUEST_CHARACTERS) {
      throw new RangeError(
        `eSpeak accepts ${MAX_REQUEST_CHARACTERS} characters; the request has ${characters}.`,
      );
    }
    if (this.#isClosed) throw new ModelUnavailableError('The eSpeak process is closed.');
    if (this.#requests.size >= MAX_OPEN_REQUESTS) throw new ModelUnavailableError('eSpeak is overloaded.');
    this.#lastId += 1;
    const request = {
      message: { id: this.#lastId, voice, clauses },
      result: Promise.withResolvers<readonly string[] | undefined>(),
    };
    this.#requests.set(this.#lastId, request);
    this.#process ??= this.#start();
    this.#sendNext();
    const phonemes = await request.result.promise;
    if (phonemes === undefined) throw new Error(`eSpeak has no voice '${voice}'.`);
    return phonemes;
  }

  /** Kills the process and fails the open requests. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#failAll('The eSpeak process is closed.');
    await this.#process?.close();
  }

  #start() {
    const { modelsDir, environment, log, entry = WORKER_ENTRY } = this.#options;
    const started = new SupervisedProcess<LoadEspeakLibrary, undefined, ToEspeak, FromEspeak>({
      name: 'eSpeak process',
      entry,
      load: { modelsDir },
      environment,
      loadTimeoutMs: LOAD_TIMEOUT_MS,
      log,
      onMessage: ({ id, clauses }) => this.#finish(id, clauses),
      onLoaded: () => this.#sendNext(),
      onExit: () => this.#handleExit(),
    });
    // The requests fail with their own error, and the process is started again.
    started.start().catch((error: unknown) => {
      if (this.#isClosed) return;
      // The message names a missing file, and the command that fetches it.
      const reason = error instanceof Error ? error.message : String(error);
      log.error('the eSpeak process failed to load', new StartError(reason));
    });
    return started;
  }

  #sendNext(): void {
    const process = this.#process;
    if (this.#running !== undefined || process === undefined) return;
    if (process.failing) this.#failAll('The eSpeak process failed to load.');
    const [next] = this.#requests.values();
    if (next === undefined || !process.loaded) return;
    this.#running = next.message.id;
    process.startWatchdog(this.#options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS);
    process.send(next.message);
  }

  #finish(id: number, clauses: readonly string[] | undefined): void {
    this.#process?.stopWatchdog();
    this.#running = undefined;
    this.#requests.get(id)?.result.resolve(clauses);
    this.#requests.delete(id);
    this.#sendNext();
  }

  /** Fails the request that was in the process. The others wait for the next process, unless it cannot be loaded. */
  #handleExit(): void {
    const id = this.#running;
    this.#running = undefined;
    if (id !== undefined) {
      this.#requests.get(id)?.result.reject(new ModelUnavailableError('The eSpeak process crashed.'));
      this.#requests.delete(id);
    }
    this.#sendNext();
  }

  #failAll(reason: string): void {
    for (const { result } of this.#requests.values()) result.reject(new ModelUnavailableError(reason));
    this.#requests.clear();
    this.#running = undefined;
  }
}
