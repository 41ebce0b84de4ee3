import type { Clock } from '../../contract/core/clock.ts';
import { ServiceError } from '../../contract/core/error.ts';

const WINDOW_MS = 60_000;
/** Maximum number of senders that are counted. Another sender replaces the first one of the current minute. */
export const MAX_SENDERS = 10_000;

/**
 * Limits the number of invalid keys per minute and sender: requests over the limit get 429 instead of 401. Only keys that
 * were looked up and not found are counted, so a sender cannot block a valid key (docs/decisions/one-key-per-request.md).
 */
export class InvalidKeyThrottle {
  readonly #perMinute: number;
  readonly #clock: Clock;
  #windowStartMs: number;
  readonly #counts = new Map<string, number>();

  /** @param perMinute maximum number of invalid keys per sender that are not throttled. */
  constructor(perMinute: number, clock: Clock) {
    this.#perMinute = perMinute;
    this.#clock = clock;
    this.#windowStartMs = clock.monotonicMs();
  }

  /**
   * Counts an invalid key.
   * @throws ServiceError `rate_limited`, with the time until the next minute, when the sender is over the limit.
   */
  count(sender: string): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs >= this.#windowStartMs + WINDOW_MS) {
      this.#counts.clear();
      this.#windowStartMs = nowMs;
    }
    const count = (this.#counts.get(sender) ?? 0) + 1;
    if (count === 1 && this.#counts.size >= MAX_SENDERS) {
      const [first = ''] = this.#counts.keys();
      this.#counts.delete(first);
    }
    this.#counts.set(sender, count);
    if (count <= this.#perMinute) return;
    const retryAfterS = Math.ceil((this.#windowStartMs + WINDOW_MS - nowMs) / 1000);
    throw new ServiceError(
      'rate_limited',
      `Invalid API key, and your address exceeded ${this.#perMinute} invalid keys per minute. Retry in ${retryAfterS} s with a valid key.`,
      { code: 'rate_limit_exceeded', retryAfterS },
    );
  }
}
