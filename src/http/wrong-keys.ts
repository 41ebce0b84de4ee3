import type { Clock } from '../contract/clock.ts';
import { ServiceError } from '../contract/error.ts';

const WINDOW_MS = 60_000;
/** Senders that are counted; one more takes the place of the first of this minute. */
export const MOST_SENDERS = 10_000;
/** Good keys that are remembered, by their hashes. */
export const MOST_GOOD_KEYS = 10_000;

/**
 * Counts wrong keys of a minute by who sent them, and turns a sender away who has sent too many, before its next key is
 * looked up: that costs the database nothing and makes short keys of API_KEYS no easier to guess. A key that was good
 * here before is looked up whoever sends it, so that a neighbour behind the same address locks nobody out
 * (docs/decisions/one-key-per-request.md). Requests that are under way at once are all looked up.
 */
export class WrongKeys {
  readonly #perMinute: number;
  readonly #clock: Clock;
  #windowFromMs: number;
  readonly #counts = new Map<string, number>();
  readonly #good = new Set<string>();

  /** @param perMinute wrong keys of one sender that are looked up. */
  constructor(perMinute: number, clock: Clock) {
    this.#perMinute = perMinute;
    this.#clock = clock;
    this.#windowFromMs = clock.monotonicMs();
  }

  /** @throws ServiceError `rate_limited` with the time to wait when this key must not be looked up now. */
  admit(sender: string, keyHash: string): void {
    const leftMs = this.#windowFromMs + WINDOW_MS - this.#clock.monotonicMs();
    if (leftMs <= 0) {
      this.#counts.clear();
      this.#windowFromMs = this.#clock.monotonicMs();
      return;
    }
    if ((this.#counts.get(sender) ?? 0) < this.#perMinute || this.#good.has(keyHash)) return;
    const retryAfterS = Math.ceil(leftMs / 1000);
    throw new ServiceError(
      'rate_limited',
      `Too many wrong API keys came from your address. Try again in ${retryAfterS} s.`,
      { code: 'rate_limit_exceeded', retryAfterS },
    );
  }

  wasGood(keyHash: string): void {
    if (!this.#good.delete(keyHash)) dropFirst(this.#good, MOST_GOOD_KEYS);
    this.#good.add(keyHash);
  }

  wasWrong(sender: string, keyHash: string): void {
    this.#good.delete(keyHash);
    const count = this.#counts.get(sender);
    if (count === undefined) dropFirst(this.#counts, MOST_SENDERS);
    this.#counts.set(sender, (count ?? 0) + 1);
  }
}

/** Makes room for one more. */
function dropFirst(kept: Map<string, unknown> | Set<string>, most: number): void {
  const [first] = kept.keys();
  if (kept.size >= most && first !== undefined) kept.delete(first);
}
