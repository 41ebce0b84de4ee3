/** Every open realtime connection: their limit, their end, and what the service tells of them. */

import type { Caller } from '../../src/contract/accounts/caller.ts';
import { newId } from '../../src/contract/core/id.ts';
import type { Slots } from '../../src/contract/plugin.ts';
import { OpenConnections } from '../../src/kit/limits/open-connections.ts';
import type { StoredVoices } from '../../src/speak/stored-voices.ts';
import { RealtimeConnection } from './connection.ts';
import { type RealtimeMetrics, realtimeMetrics } from './metrics.ts';
import { upgradeDialect } from './protocol/dialect.ts';
import { initialSession } from './session/session.ts';
import type { Rules } from './state/realtime-machine.ts';

export interface ConnectionRegistryDeps
  extends Pick<Slots, 'tts' | 'stt' | 'vad' | 'calls' | 'clock' | 'log' | 'metrics' | 'tracer'> {
  readonly voices: Pick<StoredVoices, 'find'>;
  /** ConnectionRegistry of one organization that may be open at once. */
  readonly perOrganization: number;
  readonly rules: Rules;
}

export class ConnectionRegistry {
  readonly #deps: ConnectionRegistryDeps;
  readonly #metrics: RealtimeMetrics;
  readonly #open: OpenConnections<RealtimeConnection>;

  constructor(deps: ConnectionRegistryDeps) {
    this.#deps = deps;
    this.#open = new OpenConnections('realtime connections', deps.perOrganization);
    this.#metrics = realtimeMetrics(deps.metrics);
    deps.metrics.gauge('realtime_open_connections', 'WebSockets at /v1/realtime', () => this.#open.count);
  }

  /**
   * A connection for a request that is about to be upgraded; its `closed` must be called if it is not.
   * @throws ServiceError `rate_limited` when the organization has too many open, `invalid_request` for an unknown
   *   value of `events`.
   */
  open(caller: Caller, query: URLSearchParams, headers: Headers): RealtimeConnection {
    const { rules } = this.#deps;
    const { dialect, fixed } = upgradeDialect(query, headers);
    return this.#open.openConnection(
      caller,
      (released) =>
        new RealtimeConnection({
          ...this.#deps,
          metrics: this.#metrics,
          caller,
          initialState: {
            session: initialSession(newId('session'), rules, query),
            dialect,
            dialectFixed: fixed,
            conversationId: newId('conversation'),
          },
          released,
        }),
    );
  }

  /** Every connection ends its work and closes; those that have not when the signal fires are closed then. */
  drain(until: AbortSignal): Promise<void> {
    return this.#open.drain(until);
  }

  /** Closes every connection now; resolves when their engines are free and their usage rows stored. */
  close(): Promise<void> {
    return this.#open.close();
  }
}
