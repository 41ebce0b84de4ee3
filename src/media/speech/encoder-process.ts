/** One encoder process from the server's point of view: encodings, their requests, and its loss. */

import { join } from 'node:path';
import type { Subprocess } from 'bun';
import type { EncodedFormat } from '../../contract/engines/audio-encoder.ts';
import { type EndReason, limitedCommand, OneShotProcess } from '../../kit/process/one-shot-process.ts';
import { sendToChild } from '../../kit/process/send-to-child.ts';
import type { FromEncoderProcess, ToEncoderProcess } from './protocol.ts';

const ENTRY = join(import.meta.dirname, 'worker.ts');

export interface EncoderProcessOptions {
  /** The complete environment of the process: variables that libraries read, and no keys. */
  readonly environment: Readonly<Record<string, string>>;
  /** A process that answers nothing for this time while an answer is awaited is killed, in ms. */
  readonly stallTimeoutMs: number;
  /** Path of the entry file, for tests. */
  readonly entry?: string;
}

/** Why a process answers no further requests. */
export type EncoderEndReason = EndReason<'stalled' | 'not-started'>;

export class EncoderLost extends Error {
  override readonly name = 'EncoderLost';
  readonly reason: EncoderEndReason;

  constructor(reason: EncoderEndReason) {
    super(`encoder process lost: ${reason}`);
    this.reason = reason;
  }
}

export class EncoderProcess {
  readonly #stallTimeoutMs: number;
  readonly #child: Subprocess;
  readonly #process: OneShotProcess<'stalled' | 'not-started'>;
  /** The open encodings, each with the request that awaits an answer. */
  readonly #encodings = new Map<number, PromiseWithResolvers<Uint8Array<ArrayBuffer>> | undefined>();
  #nextEncoding = 0;

  /**
   * Starts the process. Messages are queued until it has loaded.
   * @param onEnd called when the process has ended, before the requests fail.
   * @throws EncoderLost `not-started` if the system cannot start a process.
   */
  constructor(options: EncoderProcessOptions, onEnd: (reason: EncoderEndReason) => void) {
    this.#stallTimeoutMs = options.stallTimeoutMs;
    this.#child = spawnProcess(options, (message) => this.#receive(message));
    this.#process = new OneShotProcess(this.#child, (reason) => {
      onEnd(reason);
      this.#failRequests(new EncoderLost(reason));
    });
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** Number of open encodings. */
  get encodings(): number {
    return this.#encodings.size;
  }

  open(format: EncodedFormat): number {
    const encoding = this.#nextEncoding++;
    this.#encodings.set(encoding, undefined);
    this.#send({ kind: 'open', encoding, format });
    return encoding;
  }

  /**
   * Sends the samples of an encoding, or its end, and resolves with the bytes that are complete. One at a time for each encoding.
   * @throws EncoderLost if the process is lost.
   */
  async request(
    message: Extract<ToEncoderProcess, { readonly kind: 'encode' | 'finish' }>,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const { endReason } = this.#process;
    if (endReason !== undefined) throw new EncoderLost(endReason);
    const request = Promise.withResolvers<Uint8Array<ArrayBuffer>>();
    this.#encodings.set(message.encoding, request);
    if (!this.#process.hasDeadline) this.#process.setDeadline(this.#stallTimeoutMs, 'stalled');
    this.#send(message);
    return request.promise;
  }

  /** Releases an encoding. Its answers are discarded. */
  drop(encoding: number): void {
    if (!this.#encodings.delete(encoding)) return;
    this.#send({ kind: 'drop', encoding });
    this.#renewDeadline();
  }

  /** Ends the process; resolves when it has exited. Idempotent. */
  async kill(): Promise<void> {
    await this.#process.kill();
  }

  #send(message: ToEncoderProcess): void {
    if (this.#process.endReason === undefined) sendToChild(this.#child, message);
  }

  #receive({ encoding, bytes }: FromEncoderProcess): void {
    const request = this.#encodings.get(encoding);
    if (request !== undefined) {
      this.#encodings.set(encoding, undefined);
      request.resolve(bytes);
    }
    this.#renewDeadline();
  }

  #renewDeadline(): void {
    const awaited = [...this.#encodings.values()].some((request) => request !== undefined);
    if (awaited) this.#process.setDeadline(this.#stallTimeoutMs, 'stalled');
    else this.#process.clearDeadline();
  }

  #failRequests(error: EncoderLost): void {
    for (const [encoding, request] of this.#encodings) {
      this.#encodings.set(encoding, undefined);
      request?.reject(error);
    }
  }
}

function spawnProcess(
  { environment, entry = ENTRY }: EncoderProcessOptions,
  receive: (message: FromEncoderProcess) => void,
): Subprocess {
  try {
    return Bun.spawn({
      cmd: limitedCommand([], entry),
      env: environment,
      stdio: ['ignore', 'ignore', 'ignore'],
      serialization: 'advanced',
      ipc: receive,
    });
  } catch {
    throw new EncoderLost('not-started');
  }
}
