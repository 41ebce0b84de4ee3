/** All open calls: their limit, shutdown and metrics. */

import type { Caller } from '../../../src/contract/accounts/caller.ts';
import { invalidRequest } from '../../../src/contract/core/error.ts';
import { DEFAULT_VAD_SETTINGS } from '../../../src/contract/engines/engine.ts';
import { requireModel } from '../../../src/contract/model-table.ts';
import type { Slots } from '../../../src/contract/plugin.ts';
import { OpenConnections } from '../../../src/kit/limits/open-connections.ts';
import { languageRule, reducedLanguage } from '../../../src/kit/validation/languages.ts';
import { type PartnerMetrics, partnerMetrics } from '../metrics.ts';
import { PhoneCall } from './phone-call.ts';

const DEFAULT_MODEL = 'svc-stt';

export interface PhoneCallsDeps
  extends Pick<Slots, 'stt' | 'vad' | 'calls' | 'clock' | 'log' | 'metrics' | 'tracer'> {
  /** Maximum number of concurrent calls per organization. */
  readonly perOrganization: number;
  /** Silence that ends a turn, in ms. */
  readonly silenceMs: number;
  /** New audio after which an open turn is transcribed again, in ms; 0 turns partials off. */
  readonly partialMs: number;
}

export class PhoneCalls extends OpenConnections<PhoneCall> {
  readonly #deps: PhoneCallsDeps;
  readonly #metrics: PartnerMetrics;

  constructor(deps: PhoneCallsDeps) {
    super('partner calls', deps.perOrganization);
    this.#deps = deps;
    this.#metrics = partnerMetrics(deps.metrics);
    deps.metrics.gauge('partner_open_calls', 'WebSockets at /v1/transcribers/partner', () => this.count);
  }

  /**
   * Creates the call of a request that is about to be upgraded. If the upgrade fails, call its `closed`.
   * @throws ServiceError `invalid_request` for an unknown model or an unsupported language; `rate_limited` if the
   *   organization has too many open calls.
   */
  openCall(caller: Caller, query: URLSearchParams): PhoneCall {
    const model = query.get('model')?.trim() || DEFAULT_MODEL;
    const engine = requireModel(this.#deps.stt, model);
    const written = query.get('language')?.trim() || undefined;
    const language = written && reducedLanguage(written, engine.languages);
    if (written !== undefined && language === undefined) {
      const message = `'language' must be ${languageRule(engine.languages)}.`;
      throw invalidRequest(message, 'language', 'invalid_value');
    }
    const detection = { ...DEFAULT_VAD_SETTINGS, silenceDurationMs: this.#deps.silenceMs };
    return this.openConnection(
      caller,
      (released) =>
        new PhoneCall({
          ...this.#deps,
          metrics: this.#metrics,
          caller,
          model,
          engine,
          language,
          detection,
          released,
        }),
    );
  }
}
