/** Circuit breaker for an upstream server: while the server is unavailable, calls fail immediately. */

import {
  BrokenCircuitError,
  type CircuitBreakerPolicy,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  handleType,
} from 'cockatiel';
import { ServiceError } from '../../../contract/core/error.ts';

/** Consecutive failed calls that open the circuit. */
const MAX_FAILURES = 5;
/** Statuses with which a gateway reports that its server is unavailable. */
const GATEWAY_ERRORS: ReadonlySet<number> = new Set([502, 504]);

/** The server could not be reached, or not in time. Error responses of the server itself are not included. */
export class UnreachableError extends Error {
  constructor(cause: unknown) {
    super('the server is unreachable', { cause });
  }
}

export type CircuitChange = 'open' | 'half-open' | 'closed';

/**
 * A circuit breaker (Nygard, "Release It!", 2nd edition, 5.2). It opens after {@link MAX_FAILURES} consecutive failures
 * and then rejects all calls. After the cooldown, it admits one trial call, whose result closes or opens it.
 */
export class UpstreamCircuit {
  readonly #policy: CircuitBreakerPolicy;
  readonly #cooldownMs: number;

  /** @param cooldownMs time for which an open circuit rejects all calls. */
  constructor(cooldownMs: number, onChange: (state: CircuitChange) => void) {
    this.#cooldownMs = cooldownMs;
    const isFailure = handleType(UnreachableError).orWhenResult(
      (result) => result instanceof Response && GATEWAY_ERRORS.has(result.status),
    );
    this.#policy = circuitBreaker(isFailure, {
      halfOpenAfter: cooldownMs,
      breaker: new ConsecutiveBreaker(MAX_FAILURES),
    });
    this.#policy.onBreak(() => onChange('open'));
    this.#policy.onHalfOpen(() => onChange('half-open'));
    this.#policy.onReset(() => onChange('closed'));
  }

  /**
   * Runs a call, which must resolve as soon as the response starts.
   * @throws ServiceError `overloaded` when the circuit is open; the cause of an {@link UnreachableError}.
   */
  async run<Result>(call: () => Promise<Result>): Promise<Result> {
    // The policy would let other calls wait for the trial call.
    if (this.#policy.state === CircuitState.HalfOpen) throw this.#rejection();
    try {
      return await this.#policy.execute(call);
    } catch (error) {
      if (error instanceof BrokenCircuitError) throw this.#rejection();
      throw error instanceof UnreachableError ? error.cause : error;
    }
  }

  #rejection(): ServiceError {
    return new ServiceError('overloaded', 'The upstream server of this model is unavailable. Retry later.', {
      code: 'server_overloaded',
      retryAfterS: Math.max(1, Math.ceil(this.#cooldownMs / 1000)),
    });
  }
}
