/** Decides which failed lines are retried, and when. */

import type { Clock } from '../../../src/contract/core/clock.ts';
import type { ServiceError } from '../../../src/contract/core/error.ts';

export interface RetryTimes {
  /** Delay before the first retry, in ms. Doubled for each further retry. */
  readonly firstMs: number;
  readonly maxMs: number;
  /** Time since the first failure, in ms, after which a line fails permanently. */
  readonly giveUpAfterMs: number;
}

export const RETRY_TIMES: RetryTimes = { firstMs: 500, maxMs: 30_000, giveUpAfterMs: 600_000 };

/** Errors that are temporary: the engine is overloaded or unavailable. */
const TRANSIENT_KINDS: ReadonlySet<string> = new Set(['overloaded', 'rate_limited', 'upstream', 'timeout']);

export function isTransient({ kind, code }: ServiceError): boolean {
  return TRANSIENT_KINDS.has(kind) || code === 'worker_crashed';
}

interface LineFailures {
  readonly sinceMs: number;
  readonly attempts: number;
}

export interface RetryPolicyDeps {
  readonly clock: Clock;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
  readonly times?: RetryTimes;
}

/** The failing lines of one batch. Kept between the runs of a batch (retry-cache.ts). */
export class RetryPolicy {
  readonly #deps: RetryPolicyDeps;
  readonly #failures = new Map<number, LineFailures>();

  constructor(deps: RetryPolicyDeps) {
    this.#deps = deps;
  }

  /**
   * Records a failed attempt.
   * @param hasReservedCredits whether other lines of the batch have reserved credits, some of which may be released.
   * @returns the delay before the next attempt, in ms; undefined if the line fails permanently.
   */
  recordFailure(line: number, error: ServiceError, hasReservedCredits: boolean): number | undefined {
    const mayPass = isTransient(error) || (error.kind === 'insufficient_quota' && hasReservedCredits);
    if (!mayPass) return undefined;
    const { clock, random, times = RETRY_TIMES } = this.#deps;
    const nowMs = clock.monotonicMs();
    const { sinceMs, attempts } = this.#failures.get(line) ?? { sinceMs: nowMs, attempts: 0 };
    if (nowMs - sinceMs >= times.giveUpAfterMs) return undefined;
    this.#failures.set(line, { sinceMs, attempts: attempts + 1 });
    const waitMs = Math.min(times.maxMs, times.firstMs * 2 ** attempts);
    const requestedMs = Math.min(times.maxMs, (error.retryAfterS ?? 0) * 1000);
    // Jitter, so that lines that failed together are not retried together.
    return Math.max(requestedMs, waitMs / 2) + (random() * waitMs) / 2;
  }

  /** Whether no line is failing. */
  get isEmpty(): boolean {
    return this.#failures.size === 0;
  }

  /** Removes a line that has a result. */
  clearLine(line: number): void {
    this.#failures.delete(line);
  }
}
