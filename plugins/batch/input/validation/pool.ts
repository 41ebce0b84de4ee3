/** Checks of input files, each in a process of its own: 200 MB of JSON would hold up everybody who is served. */

import { join } from 'node:path';
import type { OperationUrl } from '../../../../src/contract/engines/operation.ts';
import { aborted } from '../../../../src/kit/async/aborted.ts';
import { untilAborted } from '../../../../src/kit/async/until-aborted.ts';
import { FairSemaphore } from '../../../../src/kit/limits/fair-semaphore.ts';
import type { WholeInput } from '../line-reader.ts';
import { InputCheckProcess } from './process.ts';
import type { InputVerdict } from './validator.ts';

const ENTRY = join(import.meta.dirname, 'worker.ts');
const STALL_LIMIT_MS = 60_000;
/** Checks that run at once: more would take the processor from those who are served. */
const AT_ONCE = 2;
const OF_ONE_ORGANIZATION = 1;

export interface InputChecksOptions {
  /** A line may be as long as the body of a request. */
  readonly maxLineBytes: number;
  /** Checks that may wait for others. */
  readonly waiting: number;
  readonly stallLimitMs?: number;
  /** Path of the processes' entry file, for tests. */
  readonly entry?: string;
}

/** An input file, and what it was sent for. */
export interface BatchInput {
  /** Called once, when its turn has come. What it opens is closed here. */
  open(): Promise<WholeInput>;
  readonly endpoint: OperationUrl;
  readonly organization: string;
}

export class InputChecks {
  readonly #options: InputChecksOptions;
  readonly #turns: FairSemaphore;

  constructor(options: InputChecksOptions) {
    this.#options = options;
    const { waiting } = options;
    this.#turns = new FairSemaphore({ atOnce: AT_ONCE, ofOneOwner: OF_ONE_ORGANIZATION, waiting });
  }

  /**
   * Reads a file as far as its verdict needs it, in the memory of a few pieces. Organizations take turns.
   * @throws what opening and reading it throws; the signal's reason; Error when the process ends or hangs; ServiceError
   *   `overloaded` when too many checks wait.
   */
  async check(input: BatchInput, signal: AbortSignal): Promise<InputVerdict> {
    const endTurn = await this.#turns.take(input.organization, signal);
    try {
      const whole = await input.open();
      try {
        return await this.#inProcess(whole, input.endpoint, signal);
      } finally {
        if (whole.kind === 'file') await whole.file.close();
      }
    } finally {
      endTurn();
    }
  }

  async #inProcess(input: WholeInput, endpoint: OperationUrl, signal: AbortSignal): Promise<InputVerdict> {
    const { maxLineBytes, stallLimitMs = STALL_LIMIT_MS, entry = ENTRY } = this.#options;
    const file = input.kind === 'file' ? input.file : undefined;
    const child = new InputCheckProcess({ entry, endpoint, maxLineBytes, stallLimitMs, file });
    const over = new AbortController();
    const leaving = AbortSignal.any([signal, over.signal]);
    try {
      const left = aborted(leaving).then(() => leaving.throwIfAborted());
      if (input.kind === 'bytes') {
        await Promise.race([child.verdict, feed(child, input.bytes, leaving), left]);
      }
      await Promise.race([child.verdict, left]);
      return await child.verdict;
    } finally {
      over.abort();
      await child.kill();
    }
  }
}

async function feed(
  child: InputCheckProcess,
  bytes: AsyncIterable<Uint8Array>,
  leaving: AbortSignal,
): Promise<void> {
  for await (const piece of untilAborted(bytes, leaving)) await child.send(piece);
  await child.end();
}
