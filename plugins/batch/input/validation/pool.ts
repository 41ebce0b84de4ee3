/** Validates input files, each in its own process: parsing 200 MB of JSON would block the serving process. */

import { join } from 'node:path';
import type { OperationUrl } from '../../../../src/contract/engines/operation.ts';
import { untilAborted } from '../../../../src/kit/async/until-aborted.ts';
import { waitForAbort } from '../../../../src/kit/async/wait-for-abort.ts';
import { FairSemaphore } from '../../../../src/kit/limits/fair-semaphore.ts';
import type { InputSource } from '../line-reader.ts';
import { ValidationProcess } from './process.ts';
import type { ValidationResult } from './validator.ts';

const ENTRY = join(import.meta.dirname, 'worker.ts');
const STALL_TIMEOUT_MS = 60_000;
/** Number of concurrent validations, limited to leave CPU time for requests. */
const CONCURRENCY = 2;
const CONCURRENCY_PER_ORGANIZATION = 1;

export interface ValidationPoolOptions {
  /** Maximum length of a line, in bytes: the maximum length of a request body. */
  readonly maxLineBytes: number;
  /** Maximum number of queued validations. */
  readonly waiting: number;
  readonly stallTimeoutMs?: number;
  /** Path of the worker's entry file, for tests. */
  readonly entry?: string;
}

/** An input file and the endpoint of its batch. */
export interface BatchInput {
  /** Called once, when the validation starts. The pool closes an opened file. */
  open(): Promise<InputSource>;
  readonly endpoint: OperationUrl;
  readonly organization: string;
}

export class ValidationPool {
  readonly #options: ValidationPoolOptions;
  readonly #semaphore: FairSemaphore;

  constructor(options: ValidationPoolOptions) {
    this.#options = options;
    const { waiting } = options;
    this.#semaphore = new FairSemaphore({
      maxConcurrent: CONCURRENCY,
      maxConcurrentPerKey: CONCURRENCY_PER_ORGANIZATION,
      maxQueued: waiting,
    });
  }

  /**
   * Reads a file until the result is known, in constant memory. Organizations are scheduled fairly.
   * @throws the errors of opening and reading the file; the reason of the signal; Error if the process exits or hangs;
   *   ServiceError `overloaded` if too many validations are queued.
   */
  async validateInput(input: BatchInput, signal: AbortSignal): Promise<ValidationResult> {
    const release = await this.#semaphore.acquire(input.organization, signal);
    try {
      const source = await input.open();
      try {
        return await this.#inProcess(source, input.endpoint, signal);
      } finally {
        if (source.kind === 'file') await source.file.close();
      }
    } finally {
      release();
    }
  }

  async #inProcess(
    source: InputSource,
    endpoint: OperationUrl,
    signal: AbortSignal,
  ): Promise<ValidationResult> {
    const { maxLineBytes, stallTimeoutMs = STALL_TIMEOUT_MS, entry = ENTRY } = this.#options;
    const file = source.kind === 'file' ? source.file : undefined;
    const child = new ValidationProcess({ entry, endpoint, maxLineBytes, stallTimeoutMs, file });
    const finished = new AbortController();
    const stopping = AbortSignal.any([signal, finished.signal]);
    try {
      const stopped = waitForAbort(stopping).then(() => stopping.throwIfAborted());
      if (source.kind === 'bytes') {
        await Promise.race([child.result, feed(child, source.bytes, stopping), stopped]);
      }
      await Promise.race([child.result, stopped]);
      return await child.result;
    } finally {
      finished.abort();
      await child.kill();
    }
  }
}

async function feed(
  child: ValidationProcess,
  bytes: AsyncIterable<Uint8Array>,
  stopping: AbortSignal,
): Promise<void> {
  for await (const piece of untilAborted(bytes, stopping)) await child.send(piece);
  await child.end();
}
