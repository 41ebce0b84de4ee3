/** The samples of one open file, pulled by the server from the file's own process. */

import { invalidRequest } from '../../contract/core/error.ts';
import { type Float32Samples, MAX_RATE_HZ } from '../../contract/engines/audio.ts';
import type { AllowedFormats, OpenAudioFile } from '../../contract/engines/audio-file.ts';
import { lossError, unusableFileError, wrongFormat } from '../process/errors.ts';
import { type MediaProcess, MediaProcessLost } from '../process/media-process.ts';
import { type FromMediaProcess, rateOf } from '../process/protocol.ts';

/** Blocks of half a second; the server handles one in far less than a millisecond. */
const BLOCKS_PER_SECOND = 2;
/** Maximum number of decoded, unread blocks in both processes and between them. */
const BLOCKS_AHEAD = 8;

export interface AudioFileLimits {
  /** Maximum duration of a file in seconds. */
  readonly maxS: number;
  readonly stallTimeoutMs: number;
  readonly memoryLimitBytes: number;
}

/** Parameters of a read. */
export interface ReadParams {
  readonly rateHz: number | 'own';
  /** Request field that errors name. */
  readonly field: string;
  /** Undefined: all supported formats. */
  readonly formats: AllowedFormats | undefined;
  readonly signal: AbortSignal;
}

export interface AudioFileSamplesOptions extends ReadParams {
  /** An idle process. */
  readonly process: MediaProcess;
  /** Returns the process to the pool, which ends it. */
  readonly release: (process: MediaProcess) => Promise<void>;
  readonly limits: AudioFileLimits;
}

/**
 * Not an async generator function: `return()` of a generator that was never iterated does not run its
 * `finally`, so the process would leak. {@link next} must not be called concurrently.
 */
export class AudioFileSamples implements AsyncGenerator<Float32Samples, void, undefined> {
  readonly #options: AudioFileSamplesOptions;
  readonly #onAbort = () => void this.#end();
  #samples = 0;
  /** Known once the file is open. */
  #rateHz = MAX_RATE_HZ;
  #isClosed = false;

  constructor(options: AudioFileSamplesOptions) {
    this.#options = options;
    options.signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  /**
   * Starts decoding. The caller must call {@link return} in any case.
   * @returns format and declared properties, once the beginning of the file was decoded.
   * @throws ServiceError; the signal's reason; MediaProcessLost `not-started` if another process should be
   * tried.
   */
  async start(path: string): Promise<Omit<OpenAudioFile, 'samples'>> {
    const { process, rateHz, limits, formats, field } = this.#options;
    const blockSamples = Math.floor(rateOf(rateHz, MAX_RATE_HZ) / BLOCKS_PER_SECOND);
    process.run({ path, rateHz, blockSamples, maxS: limits.maxS }, BLOCKS_AHEAD);
    const message = await this.#receive();
    if (message.kind !== 'opened') throw new Error(`media process said '${message.kind}' first`);
    const { info, declaredS = limits.maxS } = message;
    this.#rateHz = rateOf(rateHz, info.rateHz);
    if (formats?.containers.has(info.container) === false) throw wrongFormat(info.container, formats, field);
    return { info, rateHz: this.#rateHz, declaredS: Math.min(declaredS, limits.maxS) };
  }

  async next(): Promise<IteratorResult<Float32Samples, void>> {
    this.#options.signal.throwIfAborted();
    if (this.#isClosed) return { value: undefined, done: true };
    try {
      const message = await this.#receive();
      if (message.kind === 'samples') {
        this.#count(message.samples.length);
        this.#options.process.grant(1);
        return { value: message.samples, done: false };
      }
      return await this.return();
    } catch (error) {
      // Another call ended the reader while this one waited.
      const returned = this.#isClosed && !this.#options.signal.aborted;
      await this.#end();
      if (returned) return { value: undefined, done: true };
      throw error;
    }
  }

  async return(): Promise<IteratorResult<Float32Samples, void>> {
    await this.#end();
    return { value: undefined, done: true };
  }

  async throw(error: unknown): Promise<IteratorResult<Float32Samples, void>> {
    await this.#end();
    throw error;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Receives the next message; throws if it is an error. */
  async #receive(): Promise<FromMediaProcess> {
    const { process, signal, field, limits, formats } = this.#options;
    try {
      const message = await process.next();
      signal.throwIfAborted();
      if (message.kind === 'refused') throw unusableFileError(message.issue, field, formats?.label);
      return message;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof MediaProcessLost) || error.reason === 'not-started') throw error;
      throw lossError(error.reason, field, limits);
    }
  }

  /** The declared duration is checked when the file is opened, but it may be too small or missing. */
  #count(samples: number): void {
    const { limits, field } = this.#options;
    this.#samples += samples;
    if (this.#samples <= limits.maxS * this.#rateHz) return;
    throw invalidRequest(
      `The audio in '${field}' is longer than the maximum of ${limits.maxS} s.`,
      field,
      'invalid_value',
    );
  }

  async #end(): Promise<void> {
    this.#isClosed = true;
    this.#options.signal.removeEventListener('abort', this.#onAbort);
    await this.#options.release(this.#options.process);
  }
}
