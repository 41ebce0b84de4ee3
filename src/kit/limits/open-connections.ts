import type { LimitedUser } from '../../contract/accounts/limits.ts';
import { Quota } from './quota.ts';

/** A connection that lives on after the request that opened it. */
export interface OpenConnection {
  /** Ends what is under way, begins nothing new, and closes. */
  drain(): void;
  /** Closes, and frees everything without waiting for the peer. */
  stop(): void;
}

/** The connections of one feature: at most so many of an organization, ended together. */
export class OpenConnections<Connection extends OpenConnection> {
  readonly #places: Quota;
  readonly #open = new Set<Connection>();
  #empty: PromiseWithResolvers<void> | undefined;

  /**
   * @param noun what a message calls them: "realtime connections".
   * @param perOrganization connections of one organization that may be open at once.
   */
  constructor(noun: string, perOrganization: number) {
    this.#places = new Quota(noun, { perOrganization });
  }

  get count(): number {
    return this.#open.size;
  }

  /**
   * Takes a place for a connection.
   * @param make is given what the connection calls, once, when nothing of it runs any more.
   * @throws ServiceError `rate_limited` when the organization has too many open; what `make` throws.
   */
  openConnection(user: LimitedUser, make: (released: (connection: Connection) => void) => Connection): Connection {
    const leave = this.#places.acquire(user);
    try {
      const connection = make((each) => {
        leave();
        this.#open.delete(each);
        if (this.#open.size > 0) return;
        this.#empty?.resolve();
        this.#empty = undefined;
      });
      this.#open.add(connection);
      return connection;
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** Every connection ends its work and closes; those that have not when the signal fires are closed then. */
  async drain(until: AbortSignal): Promise<void> {
    const stop = () => void this.close();
    until.addEventListener('abort', stop, { once: true });
    for (const connection of [...this.#open]) connection.drain();
    if (until.aborted) stop();
    await this.#allReleased();
    until.removeEventListener('abort', stop);
  }

  /** Closes every connection now; resolves when all are released. */
  async close(): Promise<void> {
    for (const connection of [...this.#open]) connection.stop();
    await this.#allReleased();
  }

  async #allReleased(): Promise<void> {
    if (this.#open.size === 0) return;
    this.#empty ??= Promise.withResolvers();
    await this.#empty.promise;
  }
}
