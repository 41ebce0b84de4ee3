import type { LimitedUser } from '../../contract/accounts/limits.ts';
import { shuttingDown } from '../../contract/core/error.ts';
import { Quota } from './quota.ts';

/** A connection that outlives the request that opened it. */
export interface OpenConnection {
  /** Finishes running work, starts nothing new, and closes. */
  drain(): void;
  /** Closes immediately and releases everything without waiting for the peer. */
  stop(): void;
}

/** A place for a connection that is still being prepared. */
export interface ReservedConnection<Connection> {
  /**
   * Opens the connection. After an error the place is released.
   * @param make creates the connection; it receives a function that the connection calls once, after all of
   *   its work has stopped.
   * @throws ServiceError `overloaded` while the connections are drained or closed; errors of `make`.
   */
  open(make: (released: (connection: Connection) => void) => Connection): Connection;
  /** Releases a place without a connection. Idempotent. */
  release(): void;
}

/** Connections of one feature, limited per organization and closed together. */
export class OpenConnections<Connection extends OpenConnection> {
  readonly #quota: Quota;
  readonly #open = new Set<Connection>();
  #empty: PromiseWithResolvers<void> | undefined;
  #isEnding = false;

  /**
   * @param noun plural noun for messages: "realtime connections".
   * @param perOrganization maximum number of open connections of an organization.
   */
  constructor(noun: string, perOrganization: number) {
    this.#quota = new Quota(noun, { perOrganization });
  }

  get count(): number {
    return this.#open.size;
  }

  /**
   * Opens a connection without preparation, see {@link ReservedConnection.open}.
   * @throws ServiceError `rate_limited` if the organization has too many open connections.
   */
  openConnection(
    user: LimitedUser,
    make: (released: (connection: Connection) => void) => Connection,
  ): Connection {
    return this.reserve(user).open(make);
  }

  /**
   * Reserves a place before an expensive preparation. The caller opens or releases it.
   * @throws ServiceError `rate_limited` if the organization has too many open connections.
   */
  reserve(user: LimitedUser): ReservedConnection<Connection> {
    const release = this.#quota.acquire(user);
    const open: ReservedConnection<Connection>['open'] = (make) => {
      try {
        // A drain that has started would miss the connection.
        if (this.#isEnding) throw shuttingDown();
        const connection = make((each) => {
          release();
          this.#open.delete(each);
          if (this.#open.size > 0) return;
          this.#empty?.resolve();
          this.#empty = undefined;
        });
        this.#open.add(connection);
        return connection;
      } catch (error) {
        release();
        throw error;
      }
    };
    return { open, release };
  }

  /** Drains all connections; those still open when the signal fires are stopped. */
  async drain(until: AbortSignal): Promise<void> {
    this.#isEnding = true;
    const stop = () => void this.close();
    until.addEventListener('abort', stop, { once: true });
    for (const connection of [...this.#open]) connection.drain();
    if (until.aborted) stop();
    await this.#allReleased();
    until.removeEventListener('abort', stop);
  }

  /** Stops all connections. Resolves when their engines are released and their usage rows are stored. */
  async close(): Promise<void> {
    this.#isEnding = true;
    for (const connection of [...this.#open]) connection.stop();
    await this.#allReleased();
  }

  async #allReleased(): Promise<void> {
    if (this.#open.size === 0) return;
    this.#empty ??= Promise.withResolvers();
    await this.#empty.promise;
  }
}
