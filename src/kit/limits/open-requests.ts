import type { LimitedUser } from '../../contract/accounts/limits.ts';
import { shuttingDown } from '../../contract/core/error.ts';
import { Quota } from './quota.ts';

/** A request in progress. */
export interface OpenRequest {
  /** Fires when the client disconnects, when the service stops, and when the request has finished. */
  readonly signal: AbortSignal;
  /** Stops remaining work and releases the slot. Idempotent. */
  end(): void;
}

/**
 * Share of an organization's quota that a single key cannot use, so that other keys of the organization stay
 * usable.
 */
const SHARE_OF_OTHER_KEYS = 1 / 8;

/** Requests in progress of one feature, limited per organization and stopped together. */
export class OpenRequests {
  readonly #quota: Quota;
  /** Controller of each open request, with the function that releases its slot. */
  readonly #open = new Map<AbortController, () => void>();
  #idle: PromiseWithResolvers<void> | undefined;

  /**
   * @param noun singular noun for messages: "speech" in "3 of 3 speech requests".
   * @param perOrganization maximum number of concurrent requests of an organization; one key may use seven
   *   eighths of it.
   */
  constructor(noun: string, perOrganization: number) {
    const perKey = perOrganization - Math.floor(perOrganization * SHARE_OF_OTHER_KEYS);
    this.#quota = new Quota(`${noun} requests`, { perOrganization, perKey });
  }

  /**
   * Starts a request.
   * @throws ServiceError `rate_limited` if the organization or the key has too many requests in progress.
   */
  startRequest(user: LimitedUser, signal: AbortSignal): OpenRequest {
    return this.#start(this.#quota.acquire(user), signal);
  }

  /**
   * Starts a request without a quota, because another limit applies. It is drained and stopped like the
   * others.
   */
  startUncounted(signal: AbortSignal): OpenRequest {
    return this.#start(() => undefined, signal);
  }

  /** Resolves when no request is open; stops the remaining ones when the signal fires. */
  async drain(until: AbortSignal): Promise<void> {
    if (this.#open.size === 0) return;
    this.#idle ??= Promise.withResolvers();
    // Read before `stop`, because stopped requests can finish synchronously and reset the field.
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

  #start(release: () => void, signal: AbortSignal): OpenRequest {
    const request = new AbortController();
    if (signal.aborted) request.abort(signal.reason);
    else {
      signal.addEventListener('abort', () => request.abort(signal.reason), {
        once: true,
        signal: request.signal,
      });
    }
    this.#open.set(request, release);
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
