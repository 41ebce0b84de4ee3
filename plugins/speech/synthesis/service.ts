/** The service behind POST /v1/audio/speech: from a checked request to audio and a usage row. */

import { WAV_HEADER_BYTES, wavHeader } from '../../../src/audio/wav.ts';
import type { Caller } from '../../../src/contract/accounts/caller.ts';
import { invalidRequest, type ServiceError } from '../../../src/contract/core/error.ts';
import { SPEECH_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import { prepend } from '../../../src/kit/async/prepend.ts';
import {
  BilledSynthesis,
  type BilledSynthesisDeps,
  type StartedSpeech,
} from '../../../src/speak/billed-synthesis.ts';
import type { SpeechRequest } from './schema.ts';

/**
 * Longest audio that is held for a `wav` answer: 260 MB. Only hostile texts come near it, and how much one
 * gives cannot be told before it is spoken: 5000 characters are 5 minutes of a story, and hours of digits
 * said slowly.
 */
const MAX_WAV_S = 90 * 60;

export interface SynthesizerParts extends Omit<BilledSynthesisDeps, 'endpoint'> {
  readonly maxWavS?: number;
}

/** Bytes of an answer. A stream that fails half-way throws; one that is left early stops the synthesis. */
export type SpeechAudio =
  | { readonly format: 'wav'; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly format: 'pcm'; readonly chunks: AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> };

export class Synthesizer {
  readonly #parts: SynthesizerParts;
  readonly #answers: BilledSynthesis;

  constructor(parts: SynthesizerParts) {
    this.#parts = parts;
    this.#answers = new BilledSynthesis({ ...parts, endpoint: '/v1/audio/speech' });
  }

  /**
   * Synthesises one request. Resolves when the first audio (`pcm`) or all of it (`wav`) is there, so that
   * whatever fails before can still be told by a status.
   * @throws ServiceError: `invalid_request` for an unknown model or voice, before any synthesis, and for a
   *   text with nothing to speak; `rate_limited` when the organization has too many requests open;
   *   `insufficient_quota`; what the engine throws; the signal's reason after an abort.
   */
  async synthesize(request: SpeechRequest, caller: Caller, signal: AbortSignal): Promise<SpeechAudio> {
    const { model, input: text, characters, speed, voice: voiceId, format } = request;
    const begun = await this.#answers.startSynthesis(
      {
        ...{ model, text, characters, speed, voiceId, rateHz: SPEECH_RATE_HZ },
        voiceParam: 'voice',
        priority: 'interactive',
        delivery: format === 'pcm' ? 'stream' : 'whole',
      },
      caller,
      signal,
    );
    if (begun === undefined) throw nothingToSpeak();
    if (format === 'pcm') return { format, chunks: prepend(begun.first, begun.rest) };
    return { format, bytes: await this.#wav(begun) };
  }

  /** Resolves when nothing is running; at the signal it stops what still is. */
  drain(until: AbortSignal): Promise<void> {
    return this.#answers.drain(until);
  }

  /** Stops every request that is running. */
  stop(): void {
    this.#answers.stop();
  }

  async #wav({ first, rest }: StartedSpeech): Promise<Uint8Array<ArrayBuffer>> {
    const maxBytes = (this.#parts.maxWavS ?? MAX_WAV_S) * SPEECH_RATE_HZ * 2;
    const parts = [new Uint8Array(WAV_HEADER_BYTES), first];
    let dataBytes = first.length;
    for await (const chunk of rest) {
      parts.push(chunk);
      dataBytes += chunk.length;
      if (dataBytes > maxBytes) {
        await rest.throw(tooMuchAudio());
      }
    }
    const bytes = Buffer.concat(parts);
    bytes.set(wavHeader(dataBytes, SPEECH_RATE_HZ));
    return bytes;
  }
}

function nothingToSpeak(): ServiceError {
  return invalidRequest("'input' holds nothing that can be spoken.", 'input', 'invalid_value');
}

function tooMuchAudio(): ServiceError {
  return invalidRequest(
    "'input' gives more audio than a wav answer can hold; send it in parts, or ask for 'pcm'.",
    'input',
  );
}
