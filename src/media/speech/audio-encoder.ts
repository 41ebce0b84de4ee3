/** Encodes speech in one child process that serves all requests (docs/decisions/speech-formats.md). */

import type { Clock } from '../../contract/core/clock.ts';
import { ServiceError, shuttingDown } from '../../contract/core/error.ts';
import type { Logger } from '../../contract/core/logger.ts';
import type { Histogram, Metrics } from '../../contract/core/metrics.ts';
import { SPEECH_RATE_HZ } from '../../contract/engines/audio.ts';
import type { AudioEncoder, AudioEncoding, EncodedFormat } from '../../contract/engines/audio-encoder.ts';
import { ByteBudget, type ByteLimits, type ByteShare } from '../../kit/limits/byte-budget.ts';
import { restartCounter } from '../../kit/process/restart-counter.ts';
import { type EncoderEndReason, EncoderLost, EncoderProcess } from './encoder-process.ts';

/** Memory of an encoder in the process, in bytes, rounded up. That of FLAC has buffers for its longest frames. */
const ENCODER_BYTES: Readonly<Record<EncodedFormat, number>> = {
  mp3: 2 ** 19,
  opus: 2 ** 19,
  aac: 2 ** 20,
  flac: 2 ** 23,
};
/** One key can have 32 encodings of FLAC, or 512 of MP3. */
const LIMITS: ByteLimits = { bytesPerKey: 256 * 2 ** 20, totalBytes: 512 * 2 ** 20 };
const STALL_TIMEOUT_MS = 30_000;
/** Idle time after which the process is stopped, to release its memory. */
const IDLE_MS = 300_000;
const RETRY_AFTER_S = 2;
/** Samples of one message: one second, so that a long chunk delays no other encoding by more than its 10 ms of work. */
const MESSAGE_BYTES = 2 * SPEECH_RATE_HZ;
const DELAY_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];

export interface AudioEncoderOptions {
  /** The complete environment of the process: variables that libraries read, and no keys. */
  readonly environment: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Memory of the encoders of one API key, and of all keys. */
  readonly limits?: ByteLimits;
  /** A process that answers nothing for this time while an answer is awaited is killed, in ms. */
  readonly stallTimeoutMs?: number;
  readonly idleMs?: number;
  /** Path of the entry file of the process, for tests. */
  readonly entry?: string;
}

/** Creates the encoder. Its process starts with the first encoding. */
export function audioEncoder(options: AudioEncoderOptions): AudioEncoder {
  return new ProcessAudioEncoder(options);
}

class ProcessAudioEncoder implements AudioEncoder {
  readonly #options: AudioEncoderOptions;
  readonly #delaySeconds: Histogram;
  readonly #countRestart: () => void;
  readonly #removeGauge: () => void;
  /** The process of new encodings. Earlier ones may still be ending. */
  #process: EncoderProcess | undefined;
  readonly #open = new Set<ProcessAudioEncoding>();
  readonly #budget: ByteBudget;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;
  #closed = false;

  constructor(options: AudioEncoderOptions) {
    const { metrics, limits = LIMITS } = options;
    this.#options = options;
    this.#budget = memoryBudget(limits);
    this.#countRestart = restartCounter(metrics, 'audio_encoding');
    this.#removeGauge = metrics.gauge(
      'audio_encodings_open',
      'Speech responses that are being encoded.',
      () => this.#open.size,
    );
    this.#delaySeconds = metrics.histogram(
      'audio_encoding_seconds',
      'Time from synthesized samples to their encoded bytes.',
      ['format'],
      DELAY_SECONDS,
    );
  }

  open(format: EncodedFormat, keyId: string): AudioEncoding {
    if (this.#closed) throw shuttingDown();
    const share = this.#budget.openShare(keyId);
    share.add(ENCODER_BYTES[format]);
    clearTimeout(this.#idleTimer);
    const encoding = new ProcessAudioEncoding({
      process: this.#startedProcess(share),
      format,
      clock: this.#options.clock,
      observe: (seconds) => this.#delaySeconds.observe({ format }, seconds),
      onClosed: () => {
        share.end();
        this.#release(encoding);
      },
    });
    this.#open.add(encoding);
    return encoding;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idleTimer);
    this.#removeGauge();
    await this.#process?.kill();
  }

  #startedProcess(share: ByteShare): EncoderProcess {
    const { environment, entry, stallTimeoutMs = STALL_TIMEOUT_MS } = this.#options;
    try {
      this.#process ??= new EncoderProcess(
        { environment, stallTimeoutMs, ...(entry !== undefined && { entry }) },
        (reason) => this.#processEnded(reason),
      );
      return this.#process;
    } catch (error) {
      share.end();
      throw asServiceError(error);
    }
  }

  #processEnded(reason: EncoderEndReason): void {
    this.#process = undefined;
    if (reason === 'killed') return;
    this.#countRestart();
    this.#options.log.warn('encoder process exited', { reason });
  }

  #release(encoding: ProcessAudioEncoding): void {
    this.#open.delete(encoding);
    if (this.#open.size > 0 || this.#closed) return;
    this.#idleTimer = setTimeout(() => void this.#process?.kill(), this.#options.idleMs ?? IDLE_MS);
    this.#idleTimer.unref();
  }
}

function memoryBudget(limits: ByteLimits): ByteBudget {
  const error = (owner: string) =>
    new ServiceError(
      'overloaded',
      `${owner} are encoding as many speech responses as the server allows. Retry later, or use 'wav' or 'pcm'.`,
      { code: 'server_overloaded', retryAfterS: RETRY_AFTER_S },
    );
  return new ByteBudget(limits, {
    overKeyLimit: () => error('The requests of this API key'),
    overTotalLimit: () => error('The requests of all API keys'),
  });
}

interface EncodingParts {
  readonly process: EncoderProcess;
  readonly format: EncodedFormat;
  readonly clock: Clock;
  /** Called with the time of each chunk, in seconds. */
  readonly observe: (seconds: number) => void;
  readonly onClosed: () => void;
}

class ProcessAudioEncoding implements AudioEncoding {
  readonly #parts: EncodingParts;
  readonly #id: number;
  #closed = false;

  constructor(parts: EncodingParts) {
    this.#parts = parts;
    this.#id = parts.process.open(parts.format);
  }

  async encode(pcm: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
    const { process, clock, observe } = this.#parts;
    const startedMs = clock.monotonicMs();
    const bytes: Uint8Array[] = [];
    for (let at = 0; at < pcm.length; at += MESSAGE_BYTES) {
      // A copy, because a message contains the whole buffer of a view.
      const part = pcm.slice(at, at + MESSAGE_BYTES);
      bytes.push(await this.#answer(process.request({ kind: 'encode', encoding: this.#id, pcm: part })));
    }
    observe((clock.monotonicMs() - startedMs) / 1000);
    return Uint8Array.from(Buffer.concat(bytes));
  }

  finish(): Promise<Uint8Array<ArrayBuffer>> {
    return this.#answer(this.#parts.process.request({ kind: 'finish', encoding: this.#id }));
  }

  readonly close = (): void => {
    if (this.#closed) return;
    this.#closed = true;
    this.#parts.process.drop(this.#id);
    this.#parts.onClosed();
  };

  async #answer(answer: Promise<Uint8Array<ArrayBuffer>>): Promise<Uint8Array<ArrayBuffer>> {
    try {
      return await answer;
    } catch (error) {
      throw asServiceError(error);
    }
  }
}

function asServiceError(error: unknown): unknown {
  if (!(error instanceof EncoderLost)) return error;
  if (error.reason === 'killed') return shuttingDown();
  return new ServiceError('internal', 'The process that encodes audio failed. Retry the request.', {
    code: 'worker_crashed',
    cause: error,
  });
}
