import type { Clock } from '../contract/core/clock.ts';
import type { Logger } from '../contract/core/logger.ts';
import type { Redis } from '../redis/open-redis.ts';

/** Interval of probes while Redis is unavailable, in ms. */
export const PROBE_INTERVAL_MS = 5_000;

export interface RedisCircuitBreakerDeps {
  readonly redis: Redis;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called for each failed operation. */
  readonly failed?: () => void;
}

/**
 * Runs Redis operations with a circuit breaker. A blocked Redis would delay every request by the command
 * timeout; so after the first failure operations are skipped, and one background probe at a time checks
 * whether Redis has recovered.
 */
export class RedisCircuitBreaker {
  readonly #deps: RedisCircuitBreakerDeps;
  /** Monotonic time of the next probe, in ms; undefined while Redis is available. */
  #nextProbeMs: number | undefined;
  #probing = false;

  constructor(deps: RedisCircuitBreakerDeps) {
    this.#deps = deps;
  }

  /** Client for libraries that issue their own commands inside {@link run}. */
  get client(): Redis {
    return this.#deps.redis;
  }

  /**
   * Runs an operation.
   * @param operation rejects with an `Error` if Redis fails.
   * @returns undefined if Redis is unavailable.
   * @throws rejections of the operation that are not an `Error`.
   */
  async run<Result>(
    operation: (redis: Redis) => Promise<Result>,
  ): Promise<{ readonly result: Result } | undefined> {
    if (this.#nextProbeMs !== undefined) {
      this.#probe(this.#nextProbeMs);
      return undefined;
    }
    try {
      return { result: await operation(this.#deps.redis) };
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      this.#trip(error);
      return undefined;
    }
  }

  #trip({ name }: Error): void {
    const { clock, log, failed } = this.#deps;
    failed?.();
    if (this.#nextProbeMs === undefined) {
      log.warn('Redis unavailable, enforcing limits locally', { reason: name });
    }
    this.#nextProbeMs = clock.monotonicMs() + PROBE_INTERVAL_MS;
  }

  #probe(fromMs: number): void {
    const { redis, clock, log } = this.#deps;
    if (this.#probing || clock.monotonicMs() < fromMs) return;
    this.#probing = true;
    redis
      .ping()
      .then(
        () => {
          this.#nextProbeMs = undefined;
          log.info('Redis recovered');
        },
        (error: Error) => this.#trip(error),
      )
      .finally(() => {
        this.#probing = false;
      });
  }
}
