/** The samples of one open file, as the serving process pulls them from the file's own process. */

import { invalidRequest } from '../../contract/core/error.ts';
import { type Float32Samples, MAX_RATE_HZ } from '../../contract/engines/audio.ts';
import type { AllowedFormats, OpenAudioFile } from '../../contract/engines/audio-file.ts';
import { faultError, lossError, wrongFormat } from '../process/errors.ts';
import { type MediaProcess, MediaProcessLost } from '../process/media-process.ts';
import { type FromMediaProcess, rateOf } from '../process/protocol.ts';

/** Blocks of half a second: the serving thread takes one in well under a millisecond. */
const BLOCKS_PER_SECOND = 2;
/** Blocks that lie decoded and unread, in both processes and between them, at most. */
const BLOCKS_AHEAD = 8;

export interface AudioFileLimits {
  /** Longest audio of one file, in seconds. */
  readonly maxS: number;
  readonly stallLimitMs: number;
  readonly memoryLimitBytes: number;
}

/** What is asked of a file. */
export interface AskedSamples {
  readonly rateHz: number | 'own';
  /** The request's field that an error names. */
  readonly field: string;
  /** Absent: all that can be read. */
  readonly formats: AllowedFormats | undefined;
  readonly signal: AbortSignal;
}

export interface AudioFileSamplesOptions extends AskedSamples {
  /** A process without a job. */
  readonly process: MediaProcess;
  /** Takes the process back and ends it. */
  readonly release: (process: MediaProcess) => Promise<void>;
  readonly limits: AudioFileLimits;
}

/**
 * Not an async generator function, because `return()` of one that was never pulled runs none of its code, and
 * the process would stay. One call of {@link next} at a time.
 */
export class AudioFileSamples implements AsyncGenerator<Float32Samples, void, undefined> {
  readonly #options: AudioFileSamplesOptions;
  readonly #onAbort = () => void this.#end();
  #samples = 0;
  /** Known when the file is open. */
  #rateHz = MAX_RATE_HZ;
  #ended = false;

  constructor(options: AudioFileSamplesOptions) {
    this.#options = options;
    options.signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  /**
   * Begins to decode.
   * @returns what the file is and says of itself, once its beginning has been decoded.
   * @throws ServiceError; the signal's reason; MediaProcessLost `not-started` when another process should be
   *   tried. To be followed by {@link return}.
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
    if (this.#ended) return { value: undefined, done: true };
    try {
      const message = await this.#receive();
      if (message.kind === 'samples') {
        this.#count(message.samples.length);
        this.#options.process.grant(1);
        return { value: message.samples, done: false };
      }
      return await this.return();
    } catch (error) {
      // Somebody else ended it while this call waited.
      const returned = this.#ended && !this.#options.signal.aborted;
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

  /** The next message that is good news. */
  async #receive(): Promise<FromMediaProcess> {
    const { process, signal, field, limits, formats } = this.#options;
    try {
      const message = await process.next();
      signal.throwIfAborted();
      if (message.kind === 'refused') throw faultError(message.fault, field, formats?.label);
      return message;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof MediaProcessLost) || error.reason === 'not-started') throw error;
      throw lossError(error.reason, field, limits);
    }
  }

  /** What a file declares is checked when it is opened; but it may declare less than it holds, or nothing. */
  #count(samples: number): void {
    const { limits, field } = this.#options;
    this.#samples += samples;
    if (this.#samples <= limits.maxS * this.#rateHz) return;
    throw invalidRequest(
      `The audio in '${field}' is longer than the allowed ${limits.maxS} s.`,
      field,
      'invalid_value',
    );
  }

  async #end(): Promise<void> {
    this.#ended = true;
    this.#options.signal.removeEventListener('abort', this.#onAbort);
    await this.#options.release(this.#options.process);
  }
}
