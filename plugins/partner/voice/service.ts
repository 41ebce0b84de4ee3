/** The service behind POST /v1/voices/partner: one call a request, its audio while it is being made (spec 4.9). */

import type { Caller } from '../../../src/contract/accounts/caller.ts';
import { invalidRequest } from '../../../src/contract/core/error.ts';
import { prepend } from '../../../src/kit/async/prepend.ts';
import {
  BilledSynthesis,
  type BilledSynthesisDeps,
  type SpeechChunk,
} from '../../../src/speak/billed-synthesis.ts';
import type { VoiceRequest } from './schema.ts';

export type PartnerVoiceParts = Omit<BilledSynthesisDeps, 'endpoint'>;

export class PartnerVoice {
  readonly #answers: BilledSynthesis;

  constructor(parts: PartnerVoiceParts) {
    this.#answers = new BilledSynthesis({ ...parts, endpoint: 'POST /v1/voices/partner' });
  }

  /**
   * Speaks one request. Resolves when the first audio is there, so that whatever fails before can still be told by
   * a status. Leaving the chunks early stops the work.
   * @throws ServiceError: `invalid_request` for an unknown model or voice, before any synthesis, and for a text with
   *   nothing to speak; `rate_limited` when the organization has too many requests open; `insufficient_quota`; what
   *   the engine throws; the signal's reason after an abort.
   */
  async speak(
    request: VoiceRequest,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<AsyncGenerator<SpeechChunk, void, undefined>> {
    const begun = await this.#answers.startSynthesis(
      // Somebody is on the phone: as soon as a realtime response.
      { ...request, speed: 1, priority: 'realtime', delivery: 'stream' },
      caller,
      signal,
    );
    if (begun !== undefined) return prepend(begun.first, begun.rest);
    throw invalidRequest("'message.text' holds nothing that can be spoken.", 'message.text', 'invalid_value');
  }

  /** Resolves when nothing is running; at the signal it stops what still is. */
  drain(until: AbortSignal): Promise<void> {
    return this.#answers.drain(until);
  }

  /** Stops every request that is running. */
  stop(): void {
    this.#answers.stop();
  }
}
