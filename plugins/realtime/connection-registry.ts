/** All open realtime connections: limits, drain and metrics. */

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
  /** Maximum number of concurrent connections per organization. */
  readonly perOrganization: number;
  readonly rules: Rules;
}

export class ConnectionRegistry extends OpenConnections<RealtimeConnection> {
  readonly #deps: ConnectionRegistryDeps;
  readonly #metrics: RealtimeMetrics;

  constructor(deps: ConnectionRegistryDeps) {
    super('realtime connections', deps.perOrganization);
    this.#deps = deps;
    this.#metrics = realtimeMetrics(deps.metrics);
    deps.metrics.gauge('realtime_open_connections', 'WebSockets at /v1/realtime', () => this.count);
  }

  /**
   * Creates a connection for a request that is about to be upgraded. Call its `closed` if the upgrade fails.
   * @throws ServiceError `rate_limited` if the organization has too many open connections; `invalid_request`
   *   for an unknown value of `events`.
   */
  open(caller: Caller, query: URLSearchParams, headers: Headers): RealtimeConnection {
    const { rules } = this.#deps;
    const { dialect, fixed } = upgradeDialect(query, headers);
    return this.openConnection(
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
}
