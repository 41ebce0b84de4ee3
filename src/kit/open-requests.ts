import { ServiceError, shuttingDown } from '../contract/error.ts';

const RETRY_AFTER_S = 2;

/** A request that is being answered. */
export interface OpenRequest {
  /** Fires when its caller leaves, when the service stops, and when it has ended. */
  readonly signal: AbortSignal;
  /** Stops what is still done for it and frees its place. Idempotent. */
  end(): void;
}

/** The requests of one feature that are being answered: at most so many of an organization, stopped together. */
export class OpenRequests {
  readonly #noun: string;
  readonly #perOrganization: number;
  /** Aborts each open request; with the organization that asked. */
  readonly #open = new Map<AbortController, string>();
  #idle: PromiseWithResolvers<void> | undefined;

  /**
   * @param noun what a message calls them: "speech" in "3 speech requests".
   * @param perOrganization requests of one organization that may be open at once, so that no key shuts out
   *   the others.
   */
  constructor(noun: string, perOrganization: number) {
    this.#noun = noun;
    this.#perOrganization = perOrganization;
  }

  /**
   * Takes a place.
   * @throws ServiceError `rate_limited` when the organization has too many requests open.
   */
  begin(organization: string, signal: AbortSignal): OpenRequest {
    this.#requirePlace(organization);
    const request = new AbortController();
    if (signal.aborted) request.abort(signal.reason);
    else {
      signal.addEventListener('abort', () => request.abort(signal.reason), {
        once: true,
        signal: request.signal,
      });
    }
    this.#open.set(request, organization);
    return { signal: request.signal, end: () => this.#end(request) };
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

  #requirePlace(organization: string): void {
    const limit = this.#perOrganization;
    const open = [...this.#open.values()].filter((other) => other === organization).length;
    if (open < limit) return;
    throw new ServiceError(
      'rate_limited',
      `Your organization has ${open} ${this.#noun} requests open, and may have ${limit} at once. Try again when one has ended.`,
      { code: 'rate_limit_exceeded', retryAfterS: RETRY_AFTER_S },
    );
  }

  #end(request: AbortController): void {
    request.abort();
    this.#open.delete(request);
    if (this.#open.size > 0) return;
    this.#idle?.resolve();
    this.#idle = undefined;
  }
}
