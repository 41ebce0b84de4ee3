import type { LimitedUser } from '../../contract/accounts/limits.ts';
import { shuttingDown } from '../../contract/core/error.ts';
import { Quota } from './quota.ts';

/** A request that is being answered. */
export interface OpenRequest {
  /** Fires when its caller leaves, when the service stops, and when it has ended. */
  readonly signal: AbortSignal;
  /** Stops what is still done for it and frees its place. Idempotent. */
  end(): void;
}

/** Part of an organization's places that no key has to itself, so that one that floods leaves room for its others. */
const OF_OTHER_KEYS = 1 / 8;

/** The requests of one feature that are being answered: at most so many of an organization, stopped together. */
export class OpenRequests {
  readonly #places: Quota;
  /** Aborts each open request; with what gives its place back. */
  readonly #open = new Map<AbortController, () => void>();
  #idle: PromiseWithResolvers<void> | undefined;

  /**
   * @param noun what a message calls them: "speech" in "3 speech requests".
   * @param perOrganization requests of one organization that may be open at once, so that none shuts out the
   *   others. One key may have seven of eight.
   */
  constructor(noun: string, perOrganization: number) {
    const perKey = perOrganization - Math.floor(perOrganization * OF_OTHER_KEYS);
    this.#places = new Quota(`${noun} requests`, { perOrganization, perKey });
  }

  /**
   * Takes a place.
   * @throws ServiceError `rate_limited` when the organization or the key has too many requests open.
   */
  startRequest(user: LimitedUser, signal: AbortSignal): OpenRequest {
    return this.#begin(this.#places.acquire(user), signal);
  }

  /** Takes no place, for requests whose number something else bounds; they are drained and stopped with the others. */
  startUncounted(signal: AbortSignal): OpenRequest {
    return this.#begin(() => undefined, signal);
  }

  /** Resolves when nothing is open; at the signal it stops what still is. */
  async drain(until: AbortSignal): Promise<void> {
    if (this.#open.size === 0) return;
    this.#idle ??= Promise.withResolvers();
    // Held here, because what is stopped may end at once.
    const { promise: idle } = this.#idle;
    const stop = () => this.stop();
    until.addEventListener('abort', stop, { once: true });
    if (until.aborted) stop();
    await idle;
    until.removeEventListener('abort', stop);
  }

  /** Stops every open request. */
  stop(): void {
    const reason = shuttingDown();
    for (const request of this.#open.keys()) request.abort(reason);
  }

  #begin(leave: () => void, signal: AbortSignal): OpenRequest {
    const request = new AbortController();
    if (signal.aborted) request.abort(signal.reason);
    else {
      signal.addEventListener('abort', () => request.abort(signal.reason), {
        once: true,
        signal: request.signal,
      });
    }
    this.#open.set(request, leave);
    return { signal: request.signal, end: () => this.#end(request) };
  }

  #end(request: AbortController): void {
    request.abort();
    this.#open.get(request)?.();
    this.#open.delete(request);
    if (this.#open.size > 0) return;
    this.#idle?.resolve();
    this.#idle = undefined;
  }
}
