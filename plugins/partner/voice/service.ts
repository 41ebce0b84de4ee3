/** The service behind POST /v1/voices/partner. The audio is streamed while it is synthesized (spec 4.9). */

import type { Caller } from '../../../src/contract/accounts/caller.ts';
import { invalidRequest } from '../../../src/contract/core/error.ts';
import { prepend } from '../../../src/kit/async/prepend.ts';
import {
  BilledSynthesis,
  type BilledSynthesisDeps,
  type SpeechChunk,
} from '../../../src/speak/billed-synthesis.ts';
import type { VoiceRequest } from './schema.ts';

export type PartnerVoiceDeps = Omit<BilledSynthesisDeps, 'endpoint'>;

export class PartnerVoiceService {
  readonly #synthesis: BilledSynthesis;

  constructor(deps: PartnerVoiceDeps) {
    this.#synthesis = new BilledSynthesis({ ...deps, endpoint: 'POST /v1/voices/partner' });
  }

  /**
   * Synthesizes one request. Resolves with the first audio, so that earlier failures can set the HTTP status. Returning
   * the chunks early stops the synthesis.
   * @throws ServiceError `invalid_request` for an unknown model or voice (before synthesis) or a text without speakable
   *   content; `rate_limited` if the organization has too many open requests; `insufficient_quota`; the errors of the
   *   engine; the reason of the signal.
   */
  async synthesize(
    request: VoiceRequest,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<AsyncGenerator<SpeechChunk, void, undefined>> {
    const speech = await this.#synthesis.startSynthesis(
      // A caller is on the phone: same priority as realtime responses.
      { ...request, speed: 1, priority: 'realtime', delivery: 'stream' },
      caller,
      signal,
    );
    if (speech !== undefined) return prepend(speech.first, speech.rest);
    throw invalidRequest("'message.text' contains no speakable text.", 'message.text', 'invalid_value');
  }

  /** Waits for running requests; stops the remaining ones when the signal fires. */
  drain(until: AbortSignal): Promise<void> {
    return this.#synthesis.drain(until);
  }

  /** Stops all running requests. */
  stop(): void {
    this.#synthesis.stop();
  }
}
