/** Checks of input files, each in a process of its own: 200 MB of JSON would hold up everybody who is served. */

import { join } from 'node:path';
import type { OperationUrl } from '../../../../src/contract/engines/operation.ts';
import { aborted } from '../../../../src/kit/async/aborted.ts';
import { untilAborted } from '../../../../src/kit/async/until-aborted.ts';
import { FairSemaphore } from '../../../../src/kit/limits/fair-semaphore.ts';
import type { InputSource } from '../line-reader.ts';
import { ValidationProcess } from './process.ts';
import type { ValidationResult } from './validator.ts';

const ENTRY = join(import.meta.dirname, 'worker.ts');
const STALL_TIMEOUT_MS = 60_000;
/** Checks that run at once: more would take the processor from those who are served. */
const CONCURRENCY = 2;
const CONCURRENCY_PER_ORGANIZATION = 1;

export interface ValidationPoolOptions {
  /** A line may be as long as the body of a request. */
  readonly maxLineBytes: number;
  /** Checks that may wait for others. */
  readonly waiting: number;
  readonly stallTimeoutMs?: number;
  /** Path of the processes' entry file, for tests. */
  readonly entry?: string;
}

/** An input file, and what it was sent for. */
export interface BatchInput {
  /** Called once, when its turn has come. What it opens is closed here. */
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
   * Reads a file as far as its verdict needs it, in the memory of a few pieces. Organizations take turns.
   * @throws what opening and reading it throws; the signal's reason; Error when the process ends or hangs; ServiceError
   *   `overloaded` when too many checks wait.
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
      const stopped = aborted(stopping).then(() => stopping.throwIfAborted());
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
