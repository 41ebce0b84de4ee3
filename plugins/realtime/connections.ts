/** Every open realtime connection: their limit, their end, and what the service tells of them. */

import type { Caller } from '../../src/contract/caller.ts';
import { newId } from '../../src/contract/id.ts';
import type { Slots } from '../../src/contract/plugin.ts';
import { Places } from '../../src/kit/places.ts';
import { Connection } from './connection.ts';
import { dialectOfUpgrade } from './dialect.ts';
import type { Rules } from './realtime-machine.ts';
import { type RealtimeMetrics, realtimeMetrics } from './realtime-metrics.ts';
import { initialSession } from './session.ts';

export interface ConnectionsParts
  extends Pick<Slots, 'tts' | 'stt' | 'vad' | 'calls' | 'clock' | 'log' | 'metrics'> {
  /** Connections of one organization that may be open at once. */
  readonly perOrganization: number;
  readonly rules: Rules;
}

export class Connections {
  readonly #parts: ConnectionsParts;
  readonly #places: Places;
  readonly #metrics: RealtimeMetrics;
  readonly #open = new Set<Connection>();
  #empty: PromiseWithResolvers<void> | undefined;

  constructor(parts: ConnectionsParts) {
    this.#parts = parts;
    this.#places = new Places('realtime connections', { perOrganization: parts.perOrganization });
    this.#metrics = realtimeMetrics(parts.metrics);
    parts.metrics.gauge('realtime_open_connections', 'WebSockets at /v1/realtime', () => this.#open.size);
  }

  /**
   * A connection for a request that is about to be upgraded; its `closed` must be called if it is not.
   * @throws ServiceError `rate_limited` when the organization has too many open.
   */
  open(caller: Caller, query: URLSearchParams, headers: Headers): Connection {
    const leave = this.#places.take(caller);
    const { rules } = this.#parts;
    const { dialect, fixed } = dialectOfUpgrade(query, headers);
    const connection = new Connection({
      ...this.#parts,
      metrics: this.#metrics,
      caller,
      beginning: {
        session: initialSession(newId('session'), rules, query),
        dialect,
        dialectFixed: fixed,
        conversationId: newId('conversation'),
      },
      released: (each) => {
        leave();
        this.#open.delete(each);
        if (this.#open.size > 0) return;
        this.#empty?.resolve();
        this.#empty = undefined;
      },
    });
    this.#open.add(connection);
    return connection;
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

  /** Closes every connection now; resolves when their engines are free and their usage rows stored. */
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
