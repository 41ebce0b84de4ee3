/** The service behind POST /v1/voices/partner: one call a request, its audio while it is being made (spec 4.9). */

import type { Caller } from '../../src/contract/caller.ts';
import { invalidRequest } from '../../src/contract/error.ts';
import type { Slots } from '../../src/contract/plugin.ts';
import type { SpokenVoice } from '../../src/contract/voice.ts';
import { requireModel } from '../../src/http/model-routes.ts';
import { startingWith } from '../../src/kit/starting-with.ts';
import { SpeechAnswers, type SpeechChunk } from '../../src/speak/speech-answers.ts';
import type { VoiceRequest } from './voice-model.ts';

/** A stored voice, or undefined when the organization has no such voice. */
export type FindVoice = (voiceId: string, organization: string) => SpokenVoice | undefined;

export interface PartnerVoiceParts extends Pick<Slots, 'tts' | 'calls' | 'clock'> {
  readonly findVoice: FindVoice;
  /** Requests of one organization that may be open at once. */
  readonly requestsPerOrganization: number;
}

/** A checked body with what the query says. */
export interface AddressedVoiceRequest extends VoiceRequest {
  readonly model: string;
}

export class PartnerVoice {
  readonly #parts: PartnerVoiceParts;
  readonly #answers: SpeechAnswers;

  constructor(parts: PartnerVoiceParts) {
    this.#parts = parts;
    this.#answers = new SpeechAnswers({ ...parts, endpoint: 'POST /v1/voices/partner' });
  }

  /**
   * Speaks one request. Resolves when the first audio is there, so that whatever fails before can still be told by
   * a status. Leaving the chunks early stops the work.
   * @throws ServiceError: `invalid_request` for an unknown model or voice, before any synthesis, and for a text with
   *   nothing to speak; `rate_limited` when the organization has too many requests open; `insufficient_quota`; what
   *   the engine throws; the signal's reason after an abort.
   */
  async speak(
    request: AddressedVoiceRequest,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<AsyncGenerator<SpeechChunk, void, undefined>> {
    const { model, text, characters, rateHz } = request;
    requireModel(this.#parts.tts, model);
    const voice = this.#voice(request.voiceId, caller.organization);
    const begun = await this.#answers.begin(
      // Somebody is on the phone: as soon as a realtime response.
      { model, text, characters, rateHz, voice, speed: 1, priority: 'realtime', delivery: 'stream' },
      caller,
      signal,
    );
    if (begun !== undefined) return startingWith(begun.first, begun.rest);
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

  #voice(voiceId: string | undefined, organization: string): SpokenVoice | undefined {
    if (voiceId === undefined) return undefined;
    const voice = this.#parts.findVoice(voiceId, organization);
    if (voice !== undefined) return voice;
    throw invalidRequest(
      "'voiceId' must be the id of a stored voice of your organization; leave it out for the default voice.",
      'voiceId',
      'voice_not_found',
    );
  }
}
