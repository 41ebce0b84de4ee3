/** Which failures of a line are tried again, and when. */

import type { Clock } from '../../../src/contract/core/clock.ts';
import type { ServiceError } from '../../../src/contract/core/error.ts';

export interface RetryTimes {
  /** Before the first retry; doubled for each that follows. */
  readonly firstMs: number;
  readonly maxMs: number;
  /** A line that has failed for so long will fail. */
  readonly givenUpAfterMs: number;
}

export const RETRY_TIMES: RetryTimes = { firstMs: 500, maxMs: 30_000, givenUpAfterMs: 600_000 };

/** Failures that pass: the engine is full, or not there at the moment. */
const TRANSIENT_KINDS: ReadonlySet<string> = new Set(['overloaded', 'rate_limited', 'upstream', 'timeout']);

export function isTransient({ kind, code }: ServiceError): boolean {
  return TRANSIENT_KINDS.has(kind) || code === 'worker_crashed';
}

interface Failing {
  readonly sinceMs: number;
  readonly attempts: number;
}

export interface RetryParts {
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly times?: RetryTimes;
}

/** The lines of one batch that fail at the moment. It outlives the runs of a batch that gives way to others. */
export class LineRetries {
  readonly #parts: RetryParts;
  readonly #failing = new Map<number, Failing>();

  constructor(parts: RetryParts) {
    this.#parts = parts;
  }

  /**
   * Notes that a line failed.
   * @param holdsCredits whether the batch holds credits for others of its lines, some of which may come back.
   * @returns after how many ms it is to be tried again; undefined when it has failed for good.
   */
  failed(line: number, error: ServiceError, holdsCredits: boolean): number | undefined {
    const mayPass = isTransient(error) || (error.kind === 'insufficient_quota' && holdsCredits);
    if (!mayPass) return undefined;
    const { clock, random, times = RETRY_TIMES } = this.#parts;
    const nowMs = clock.monotonicMs();
    const { sinceMs, attempts } = this.#failing.get(line) ?? { sinceMs: nowMs, attempts: 0 };
    if (nowMs - sinceMs >= times.givenUpAfterMs) return undefined;
    this.#failing.set(line, { sinceMs, attempts: attempts + 1 });
    const waitMs = Math.min(times.maxMs, times.firstMs * 2 ** attempts);
    const askedMs = Math.min(times.maxMs, (error.retryAfterS ?? 0) * 1000);
    // Lines that failed together are not to come back together.
    return Math.max(askedMs, waitMs / 2) + (random() * waitMs) / 2;
  }

  /** Whether no line fails at the moment. */
  get isEmpty(): boolean {
    return this.#failing.size === 0;
  }

  /** The line has its result. */
  forget(line: number): void {
    this.#failing.delete(line);
  }
}
