/** Every open call: their limit, their end, and what the service tells of them. */

import type { Caller } from '../../../src/contract/accounts/caller.ts';
import { invalidRequest } from '../../../src/contract/core/error.ts';
import { DEFAULT_VAD_SETTINGS } from '../../../src/contract/engines/engine.ts';
import { requireModel } from '../../../src/contract/model-table.ts';
import type { Slots } from '../../../src/contract/plugin.ts';
import { OpenConnections } from '../../../src/kit/limits/open-connections.ts';
import { type PartnerMetrics, partnerMetrics } from '../metrics.ts';
import { PhoneCall } from './phone-call.ts';

const DEFAULT_MODEL = 'svc-stt';

export interface PhoneCallsParts
  extends Pick<Slots, 'stt' | 'vad' | 'calls' | 'clock' | 'log' | 'metrics' | 'tracer'> {
  /** Calls of one organization that may be open at once. */
  readonly perOrganization: number;
  /** Silence that ends a turn. */
  readonly silenceMs: number;
  /** New audio after which an open turn is transcribed again; 0 is never. */
  readonly partialMs: number;
}

export class PhoneCalls {
  readonly #parts: PhoneCallsParts;
  readonly #metrics: PartnerMetrics;
  readonly #open: OpenConnections<PhoneCall>;

  constructor(parts: PhoneCallsParts) {
    this.#parts = parts;
    this.#open = new OpenConnections('partner calls', parts.perOrganization);
    this.#metrics = partnerMetrics(parts.metrics);
    parts.metrics.gauge(
      'partner_open_calls',
      'WebSockets at /v1/transcribers/partner',
      () => this.#open.count,
    );
  }

  /**
   * A call for a request that is about to be upgraded; its `closed` must be called if it is not.
   * @throws ServiceError `invalid_request` for an unknown model, and a language that it does not know;
   *   `rate_limited` when the organization has too many open.
   */
  open(caller: Caller, query: URLSearchParams): PhoneCall {
    const model = query.get('model') ?? DEFAULT_MODEL;
    const engine = requireModel(this.#parts.stt, model);
    const language = query.get('language') ?? undefined;
    if (language !== undefined && engine.languages?.includes(language) === false) {
      const allowed = engine.languages.join(', ');
      throw invalidRequest(`'language' must be one of ${allowed}.`, 'language', 'invalid_value');
    }
    const detection = { ...DEFAULT_VAD_SETTINGS, silenceDurationMs: this.#parts.silenceMs };
    return this.#open.openConnection(
      caller,
      (released) =>
        new PhoneCall({
          ...this.#parts,
          metrics: this.#metrics,
          ...{ caller, model, engine, language, detection, released },
        }),
    );
  }

  /** Every call writes out its open turn and closes; those that have not when the signal fires are closed then. */
  drain(until: AbortSignal): Promise<void> {
    return this.#open.drain(until);
  }

  /** Closes every call now; resolves when their engines are free and their usage rows stored. */
  close(): Promise<void> {
    return this.#open.close();
  }
}
