import type { Clock } from '../../contract/core/clock.ts';
import { ServiceError } from '../../contract/core/error.ts';

const WINDOW_MS = 60_000;
/** Senders that are counted. A further one replaces the first of the current minute. */
export const MAX_SENDERS = 10_000;

/**
 * Limits how many invalid keys per minute one sender gets 401 for; further ones get 429. Only requests whose key was looked
 * up and not found are counted here, so no sender can block a valid key (docs/decisions/one-key-per-request.md).
 */
export class InvalidKeyThrottle {
  readonly #perMinute: number;
  readonly #clock: Clock;
  #windowStartMs: number;
  readonly #counts = new Map<string, number>();

  /** @param perMinute invalid keys of one sender that are not throttled. */
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
      `This API key is not valid, and your address has sent more than ${this.#perMinute} invalid keys within a minute. Retry in ${retryAfterS} s with a valid key.`,
      { code: 'rate_limit_exceeded', retryAfterS },
    );
  }
}
