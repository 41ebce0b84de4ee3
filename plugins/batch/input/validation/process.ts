/** The host side of a validation process: sends the file, receives the result and kills the process. */

import type { FileSink } from 'bun';
import type { BlobFile } from '../../../../src/contract/stores/blob-store.ts';
import { type EndReason, OneShotProcess } from '../../../../src/kit/process/one-shot-process.ts';
import type { ValidationResult, ValidationRules } from './validator.ts';

export interface ValidationProcessOptions extends ValidationRules {
  /** Path of the worker's entry file. */
  readonly entry: string;
  /** Time without a message (progress or result), in ms, after which the process is considered hung. */
  readonly stallTimeoutMs: number;
  /** The file to read; may be closed once the process has started. Undefined if the bytes are sent. */
  readonly file: BlobFile | undefined;
}

/** A message of the process: progress while it reads, the result at the end. */
export type ValidationMessage = { readonly kind: 'progress' } | ValidationResult;

export class ValidationProcess {
  readonly #process: OneShotProcess<'stalled'>;
  readonly #pipe: FileSink | undefined;
  readonly #stallTimeoutMs: number;
  readonly #result = Promise.withResolvers<ValidationResult>();

  constructor({ entry, endpoint, maxLineBytes, stallTimeoutMs, file }: ValidationProcessOptions) {
    this.#stallTimeoutMs = stallTimeoutMs;
    const child = Bun.spawn({
      cmd: [process.execPath, entry, endpoint, String(maxLineBytes)],
      env: {},
      // Output of a faulty process may quote the file.
      stdio: [file?.fd ?? 'pipe', 'ignore', 'ignore'],
      serialization: 'advanced',
      ipc: (message: ValidationMessage) => this.#receive(message),
    });
    this.#process = new OneShotProcess(child, (reason) => this.#result.reject(endError(reason)));
    this.#pipe = typeof child.stdin === 'object' ? child.stdin : undefined;
    if (file !== undefined) this.#startStallTimer();
  }

  /** May resolve before all bytes are sent. Rejects if the process exits or hangs without a result. */
  get result(): Promise<ValidationResult> {
    return this.#result.promise;
  }

  /** Sends bytes of the file. Resolves when the pipe accepts more, or when the process has exited. */
  async send(bytes: Uint8Array): Promise<void> {
    this.#startStallTimer();
    try {
      this.#pipe?.write(bytes);
      await this.#pipe?.flush();
    } catch {
      // The process does not read any more: its result or its exit follows.
    }
    // The process cannot stall while it waits for bytes.
    this.#process.clearDeadline();
  }

  /** Sends the end of the file. */
  async end(): Promise<void> {
    this.#startStallTimer();
    try {
      await this.#pipe?.end();
    } catch {
      // As above.
    }
  }

  /** Resolves when the process has exited. */
  kill(): Promise<void> {
    return this.#process.kill();
  }

  #receive(message: ValidationMessage): void {
    if (message.kind !== 'progress') this.#result.resolve(message);
    else if (this.#process.hasDeadline) this.#startStallTimer();
  }

  #startStallTimer(): void {
    this.#process.setDeadline(this.#stallTimeoutMs, 'stalled');
  }
}

function endError(reason: EndReason<'stalled'>): Error {
  return new Error(`Input validation process ${reason === 'stalled' ? 'hangs' : 'exited without a result'}.`);
}
