/** A server that does not answer is left alone for a while, so that callers learn it at once. */

import {
  BrokenCircuitError,
  type CircuitBreakerPolicy,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  handleType,
} from 'cockatiel';
import { ServiceError } from '../../../contract/core/error.ts';

/** Calls in a row that did not reach the server. */
const MAX_FAILURES = 5;
/** What gateways say of a server that is away. */
const AWAY: ReadonlySet<number> = new Set([502, 504]);

/** The server was not reached, or not in time. What it says itself is never this. */
export class Unreached extends Error {
  constructor(cause: unknown) {
    super('the server was not reached', { cause });
  }
}

export type CircuitChange = 'open' | 'half-open' | 'closed';

/**
 * A circuit breaker (Nygard, "Release It!", 2nd edition, 5.2). Open after {@link MAX_FAILURES} calls in a row, it
 * refuses every call; when it has cooled down, the next call is tried, and its end decides.
 */
export class UpstreamCircuit {
  readonly #policy: CircuitBreakerPolicy;
  readonly #coolMs: number;

  /** @param coolMs how long it refuses before it tries again. */
  constructor(coolMs: number, changed: (state: CircuitChange) => void) {
    this.#coolMs = coolMs;
    const away = handleType(Unreached).orWhenResult(
      (answer) => answer instanceof Response && AWAY.has(answer.status),
    );
    this.#policy = circuitBreaker(away, {
      halfOpenAfter: coolMs,
      breaker: new ConsecutiveBreaker(MAX_FAILURES),
    });
    this.#policy.onBreak(() => changed('open'));
    this.#policy.onHalfOpen(() => changed('half-open'));
    this.#policy.onReset(() => changed('closed'));
  }

  /**
   * Makes a call that ends when the server begins to answer.
   * @throws ServiceError `overloaded` when the server is left alone; the cause of an {@link Unreached}.
   */
  async run<Answer>(call: () => Promise<Answer>): Promise<Answer> {
    // The policy would let the others wait for the one that is tried.
    if (this.#policy.state === CircuitState.HalfOpen) throw this.#refusal();
    try {
      return await this.#policy.execute(call);
    } catch (error) {
      if (error instanceof BrokenCircuitError) throw this.#refusal();
      throw error instanceof Unreached ? error.cause : error;
    }
  }

  #refusal(): ServiceError {
    return new ServiceError(
      'overloaded',
      'The server behind this model does not answer. Try again shortly.',
      {
        code: 'server_overloaded',
        retryAfterS: Math.max(1, Math.ceil(this.#coolMs / 1000)),
      },
    );
  }
}
