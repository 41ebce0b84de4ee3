/**
 * eSpeak NG in a process of its own, because of its licence (GPL-3.0) and because a crash in C must not end the synthesis of
 * others. It starts with the first request, so that unused languages need no memory.
 */

import { fileURLToPath } from 'node:url';
import { StartError } from '../../../contract/core/error.ts';
import type { Logger } from '../../../contract/core/logger.ts';
import { ModelUnavailableError } from '../../../inference/pool/model.ts';
import { type SerialFailure, SerialProcess } from '../../../inference/workers/serial-process.ts';
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
const MAX_WAITING = 16;

export interface EspeakOptions {
  readonly modelsDir: string;
  /** The whole environment of the process. */
  readonly environment: Readonly<Record<string, string>>;
  readonly log: Logger;
  /** Entry file of the process; overridden in tests. */
  readonly entry?: string;
  readonly requestTimeoutMs?: number;
}

const FAILURES: Readonly<Record<SerialFailure, string>> = {
  full: 'eSpeak is overloaded.',
  failing: 'The eSpeak process failed to load.',
  crashed: 'The eSpeak process crashed.',
  closed: 'The eSpeak process is closed.',
};

export class EspeakEngine {
  readonly #options: EspeakOptions;
  #process: SerialProcess<LoadEspeakLibrary, ToEspeak, FromEspeak> | undefined;
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
    if (this.#isClosed) throw new ModelUnavailableError(FAILURES.closed);
    this.#process ??= this.#start();
    const { clauses: phonemes } = await this.#process.request({ voice, clauses });
    if (phonemes === undefined) throw new Error(`eSpeak has no voice '${voice}'.`);
    return phonemes;
  }

  /** Kills the process and fails the open requests. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#process?.close();
  }

  #start() {
    const { modelsDir, environment, log, entry = WORKER_ENTRY } = this.#options;
    const started = new SerialProcess<LoadEspeakLibrary, ToEspeak, FromEspeak>({
      name: 'eSpeak process',
      entry,
      load: { modelsDir },
      environment,
      loadTimeoutMs: LOAD_TIMEOUT_MS,
      log,
      maxWaiting: MAX_WAITING,
      requestTimeoutMs: this.#options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
      failure: (cause) => new ModelUnavailableError(FAILURES[cause]),
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
}
