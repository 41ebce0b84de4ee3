/** The service behind POST /v1/audio/speech: from a validated request to audio and a usage row. */

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
 * Maximum length of the audio that is buffered for a `wav` response: 260 MB. Only malicious texts exceed it, but the
 * length is unknown before synthesis: 5000 characters are 5 minutes of prose, or hours of slowly read digits.
 */
const MAX_WAV_S = 90 * 60;

export interface SynthesizerDeps extends Omit<BilledSynthesisDeps, 'endpoint'> {
  readonly maxWavS?: number;
}

/** The audio of a response. The stream throws if synthesis fails midway; returning it early stops the synthesis. */
export type SpeechAudio =
  | { readonly format: 'wav'; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly format: 'pcm'; readonly chunks: AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> };

export class Synthesizer {
  readonly #deps: SynthesizerDeps;
  readonly #synthesis: BilledSynthesis;

  constructor(deps: SynthesizerDeps) {
    this.#deps = deps;
    this.#synthesis = new BilledSynthesis({ ...deps, endpoint: '/v1/audio/speech' });
  }

  /**
   * Synthesizes one request. Resolves with the first audio (`pcm`) or all of it (`wav`), so that earlier failures can
   * set the HTTP status.
   * @throws ServiceError `invalid_request` for an unknown model or voice (before synthesis) or a text without speakable
   *   content; `rate_limited` if the organization has too many open requests; `insufficient_quota`; the errors of the
   *   engine; the reason of the signal.
   */
  async synthesize(request: SpeechRequest, caller: Caller, signal: AbortSignal): Promise<SpeechAudio> {
    const { model, input: text, characters, speed, voice: voiceId, format } = request;
    const speech = await this.#synthesis.startSynthesis(
      {
        ...{ model, text, characters, speed, voiceId, rateHz: SPEECH_RATE_HZ },
        voiceParam: 'voice',
        priority: 'interactive',
        delivery: format === 'pcm' ? 'stream' : 'whole',
      },
      caller,
      signal,
    );
    if (speech === undefined) throw noSpeakableText();
    if (format === 'pcm') return { format, chunks: prepend(speech.first, speech.rest) };
    return { format, bytes: await this.#wav(speech) };
  }

  /** Waits for running requests; stops the remaining ones when the signal fires. */
  drain(until: AbortSignal): Promise<void> {
    return this.#synthesis.drain(until);
  }

  /** Stops all running requests. */
  stop(): void {
    this.#synthesis.stop();
  }

  async #wav({ first, rest }: StartedSpeech): Promise<Uint8Array<ArrayBuffer>> {
    const maxBytes = (this.#deps.maxWavS ?? MAX_WAV_S) * SPEECH_RATE_HZ * 2;
    const chunks = [new Uint8Array(WAV_HEADER_BYTES), first];
    let dataBytes = first.length;
    for await (const chunk of rest) {
      chunks.push(chunk);
      dataBytes += chunk.length;
      if (dataBytes > maxBytes) {
        await rest.throw(audioTooLong());
      }
    }
    const bytes = Buffer.concat(chunks);
    bytes.set(wavHeader(dataBytes, SPEECH_RATE_HZ));
    return bytes;
  }
}

function noSpeakableText(): ServiceError {
  return invalidRequest("'input' contains no speakable text.", 'input', 'invalid_value');
}

function audioTooLong(): ServiceError {
  return invalidRequest(
    "'input' produces more audio than a wav response can contain; split it, or use 'pcm'.",
    'input',
  );
}
