import type { Clock } from '../contract/core/clock.ts';
import type { Logger } from '../contract/core/logger.ts';
import type { Redis } from '../redis/open-redis.ts';

/** How long a Redis that failed is left alone before it is asked whether it is back. */
export const PROBE_INTERVAL_MS = 5_000;

export interface RedisCircuitBreakerDeps {
  readonly redis: Redis;
  readonly clock: Clock;
  readonly log: Logger;
  /** Told of each question that Redis did not answer. */
  readonly failed?: () => void;
}

/**
 * Asks Redis as long as it answers. One that hangs would cost every request its time limit: after the first failure
 * nobody waits for it any more, and one question at a time, which nobody waits for either, finds out when it is back.
 */
export class RedisCircuitBreaker {
  readonly #parts: RedisCircuitBreakerDeps;
  /** When it may be asked again, in monotonic ms; undefined while it answers. */
  #awayUntilMs: number | undefined;
  #probing = false;

  constructor(parts: RedisCircuitBreakerDeps) {
    this.#parts = parts;
  }

  /** For what makes its own questions; they go through {@link run}. */
  get client(): Redis {
    return this.#parts.redis;
  }

  /**
   * @param question rejects with an `Error` when Redis fails.
   * @returns undefined when it is away, and the caller has to help itself.
   * @throws what the question rejects with that is no `Error`.
   */
  async run<Answer>(
    question: (redis: Redis) => Promise<Answer>,
  ): Promise<{ readonly answer: Answer } | undefined> {
    if (this.#awayUntilMs !== undefined) {
      this.#probe(this.#awayUntilMs);
      return undefined;
    }
    try {
      return { answer: await question(this.#parts.redis) };
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      this.#lost(error);
      return undefined;
    }
  }

  #lost({ name }: Error): void {
    const { clock, log, failed } = this.#parts;
    failed?.();
    if (this.#awayUntilMs === undefined) {
      log.warn('Redis does not answer; this process counts by itself', { reason: name });
    }
    this.#awayUntilMs = clock.monotonicMs() + PROBE_INTERVAL_MS;
  }

  #probe(fromMs: number): void {
    const { redis, clock, log } = this.#parts;
    if (this.#probing || clock.monotonicMs() < fromMs) return;
    this.#probing = true;
    redis
      .ping()
      .then(
        () => {
          this.#awayUntilMs = undefined;
          log.info('Redis answers again');
        },
        (error: Error) => this.#lost(error),
      )
      .finally(() => {
        this.#probing = false;
      });
  }
}
