/** Billed speech synthesis for HTTP responses, paced by the reader (spec 4.3, 4.9). */

import { Resampler } from '../audio/resampler.ts';
import type { Caller } from '../contract/accounts/caller.ts';
import type { EndpointLabel } from '../contract/accounts/usage.ts';
import { type ErrorKind, invalidRequest, ServiceError } from '../contract/core/error.ts';
import { mayBeId } from '../contract/core/id.ts';
import { type Int16Samples, SPEECH_RATE_HZ } from '../contract/engines/audio.ts';
import type { SpokenVoice } from '../contract/engines/spoken-voice.ts';
import { requireModel } from '../contract/model-table.ts';
import type { Slots } from '../contract/plugin.ts';
import { type OpenRequest, OpenRequests } from '../kit/limits/open-requests.ts';
import { SpeechUsageMeter } from '../usage/usage-meters.ts';
import type { StoredVoices } from './stored-voices.ts';
import { type SynthesizeTextRequest, synthesizeText } from './synthesize-text.ts';

export interface BilledSynthesisDeps extends Pick<Slots, 'tts' | 'calls' | 'clock'> {
  readonly endpoint: EndpointLabel;
  readonly voices: Pick<StoredVoices, 'find'>;
  /** Maximum number of concurrent requests per organization. */
  readonly requestsPerOrganization: number;
}

/** A validated request. */
export interface BilledSynthesisRequest extends Omit<SynthesizeTextRequest, 'fairnessKey' | 'voice'> {
  readonly model: string;
  /** Id of a stored voice as sent by the client; undefined selects the default voice of the model. */
  readonly voiceId: string | undefined;
  /** Name of the request field that contains the voice id, for error messages. */
  readonly voiceParam: string;
  /** Number of Unicode code points in `text`. */
  readonly characters: number;
  /** Sample rate of the output in Hz, {@link MIN_RATE_HZ} to {@link MAX_RATE_HZ}. */
  readonly rateHz: number;
}

/** Signed 16-bit little-endian mono PCM. Each chunk contains whole samples. */
export type SpeechChunk = Uint8Array<ArrayBuffer>;

/**
 * Started speech. Throwing an error into `rest` marks the call as failed; ending `rest` early stops the
 * synthesis.
 */
export interface StartedSpeech {
  readonly first: SpeechChunk;
  readonly rest: AsyncGenerator<SpeechChunk, void, undefined>;
}

export class BilledSynthesis {
  readonly #deps: BilledSynthesisDeps;
  readonly #requests: OpenRequests;

  constructor(deps: BilledSynthesisDeps) {
    this.#deps = deps;
    this.#requests = new OpenRequests('speech', deps.requestsPerOrganization);
  }

  /**
   * Starts a synthesis. Resolves with the first audio, so that earlier errors can be reported as an HTTP
   * status. Resolves to undefined, without a call, if the text contains no speakable text.
   * @throws ServiceError `invalid_request` for an unknown model or voice; `rate_limited` if the organization
   *   has too many open requests; `insufficient_quota`. Also throws the errors of the engine, and the reason
   *   of the signal after an abort.
   */
  async startSynthesis(
    request: BilledSynthesisRequest,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<StartedSpeech | undefined> {
    const { model, characters, rateHz, voiceId, voiceParam, ...options } = request;
    const engine = requireModel(this.#deps.tts, model);
    const job = this.#requests.startRequest(caller, signal);
    const voice = await this.#voice(voiceId, voiceParam, caller).catch((error: unknown) => {
      job.end();
      throw error;
    });
    const { speed } = options;
    const meter = new SpeechUsageMeter({ model, characters, speed, endpoint: this.#deps.endpoint }, caller);
    const speech = synthesizeText(
      engine,
      { ...options, voice, fairnessKey: caller.keyId },
      this.#deps.clock,
      job.signal,
    );
    const rest = this.#billedChunks(speech, rateHz, meter, job);
    try {
      // Runs up to the first audio. The rest follows as the reader pulls.
      const first = await rest.next();
      return first.done ? undefined : { first: first.value, rest };
    } catch (error) {
      await rest.return();
      throw error;
    }
  }

  /** Resolves when no synthesis is running. Stops the remaining ones when `until` aborts. */
  drain(until: AbortSignal): Promise<void> {
    return this.#requests.drain(until);
  }

  /** Stops all running syntheses. */
  stop(): void {
    this.#requests.stop();
  }

  async #voice(
    voiceId: string | undefined,
    voiceParam: string,
    { organization }: Caller,
  ): Promise<SpokenVoice | undefined> {
    if (voiceId === undefined) return undefined;
    const { voices } = this.#deps;
    const voice = mayBeId('voice', voiceId) ? await voices.find(voiceId, organization) : undefined;
    if (voice !== undefined) return voice;
    const message = `'${voiceParam}' must be the id of a stored voice of your organization; leave it out for the default voice.`;
    throw invalidRequest(message, voiceParam, 'voice_not_found');
  }

  /**
   * Yields the samples as bytes and counts them. Opens the call first and closes it when the generator ends.
   */
  async *#billedChunks(
    speech: AsyncGenerator<Int16Samples, void, undefined>,
    rateHz: number,
    meter: SpeechUsageMeter,
    job: OpenRequest,
  ): AsyncGenerator<SpeechChunk, void, undefined> {
    let hasAudio = false;
    const chunks = resampled(speech, rateHz, (samples) => {
      hasAudio = true;
      meter.addAudio(samples, 0);
    });
    try {
      await meter.open(this.#deps.calls);
      for await (const chunk of chunks) {
        meter.addAudio(0, chunk.byteLength);
        yield new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      }
      if (hasAudio) await meter.close('completed');
    } catch (error) {
      const isRejected = !hasAudio && error instanceof ServiceError && REJECTIONS.has(error.kind);
      if (!isRejected) await meter.close(job.signal.aborted ? 'cancelled' : 'failed');
      throw error;
    } finally {
      await chunks.return();
      await speech.return();
      // The call is still open if the consumer stopped early or the request was rejected.
      if (hasAudio) await meter.close('cancelled');
      else await meter.discard();
      job.end();
    }
  }
}

/** Error kinds after which nothing was synthesized. */
const REJECTIONS: ReadonlySet<ErrorKind> = new Set(['overloaded', 'invalid_request']);

/**
 * Resamples speech. Yields no empty chunks.
 * @param onSamples receives the number of samples of each input chunk.
 */
async function* resampled(
  speech: AsyncIterable<Int16Samples>,
  rateHz: number,
  onSamples: (samples: number) => void,
): AsyncGenerator<Int16Samples, void, undefined> {
  const resampler =
    rateHz === SPEECH_RATE_HZ
      ? undefined
      : new Resampler({ fromHz: SPEECH_RATE_HZ, toHz: rateHz, format: 'int16' });
  try {
    for await (const chunk of speech) {
      onSamples(chunk.length);
      const samples = resampler ? resampler.push(chunk) : chunk;
      if (samples.length > 0) yield samples;
    }
    const last = resampler?.flush();
    if (last && last.length > 0) yield last;
  } finally {
    resampler?.close();
  }
}
