/**
 * Speech from another server that speaks OpenAI's `/v1/audio/speech`: vLLM-Omni, Kokoro-FastAPI, speaches
 * (partner-and-upstreams B.1, B.7).
 */

import { shuttingDown } from '../../../contract/core/error.ts';
import type { Id } from '../../../contract/core/id.ts';
import type { Logger } from '../../../contract/core/logger.ts';
import type { UpstreamTtsSettings } from '../../../contract/core/settings.ts';
import type { Float32Samples } from '../../../contract/engines/audio.ts';
import type { ReadyReport, SynthesisRequest, TtsEngine } from '../../../contract/engines/engine.ts';
import type { SpokenVoice } from '../../../contract/engines/spoken-voice.ts';
import { storedVoicesUnsupported } from '../../../contract/voice-errors.ts';
import { mediaTypeOf } from '../client/response-body.ts';
import { upstreamError, upstreamStatusError } from '../client/upstream-error.ts';
import type { UpstreamMeter } from '../client/metrics.ts';
import { type UpstreamCall, UpstreamServer } from '../client/server.ts';
import { PcmStream } from './pcm-stream.ts';
import { RegisteredVoices, waitForUpload } from './registered-voices.ts';

const JSON_BODY = { 'content-type': 'application/json' };
/** A server only deletes a file, while somebody waits. */
const FORGET_MS = 5_000;
/** Far beyond what a text of 600 characters gives at the natural speed. */
const MAX_AUDIO_S = 600;
const PCM_TYPES: ReadonlySet<string> = new Set(['audio/pcm', 'audio/raw', 'application/octet-stream', '']);

export interface UpstreamTtsOptions {
  readonly settings: UpstreamTtsSettings;
  readonly log: Logger;
  readonly meter?: UpstreamMeter;
  /**
   * How long the upstream may take until its first byte of audio, and then between two chunks. Slow speech
   * is more audio and gets as much more time.
   */
  readonly firstByteMs?: number;
  readonly idleMs?: number;
  /** How long a deletion waits for an upload of the same voice, and then for the upstream. */
  readonly forgetMs?: number;
  /** Pause between two looks at an upstream that failed. */
  readonly probeMs?: number;
}

/** What servers say of a voice that they do not know; of other faults of a request, too. */
const UNKNOWN_VOICE: readonly number[] = [400, 404];
const NONE: readonly number[] = [];

/** Fields of a request that say whose voice it is. */
type VoiceFields = Readonly<Record<string, string>>;

/** Makes the engine; nothing is sent before the first request. */
export function upstreamTtsEngine(options: UpstreamTtsOptions): TtsEngine {
  return new UpstreamTtsEngine(options);
}

class UpstreamTtsEngine implements TtsEngine {
  readonly rateHz: number;
  readonly #settings: UpstreamTtsSettings;
  readonly #server: UpstreamServer;
  readonly #firstByteMs: number;
  readonly #idleMs: number;
  readonly #forgetMs: number;
  readonly #registeredVoices: RegisteredVoices;
  /** Clips that requests carry, each read once for all sentences of its request. */
  readonly #carried = new WeakMap<SpokenVoice, Promise<VoiceFields>>();
  readonly #closed = new AbortController();

  constructor(options: UpstreamTtsOptions) {
    this.#settings = options.settings;
    this.rateHz = options.settings.rateHz;
    this.#server = new UpstreamServer(options);
    this.#firstByteMs = options.firstByteMs ?? 60_000;
    this.#idleMs = options.idleMs ?? 20_000;
    this.#forgetMs = options.forgetMs ?? FORGET_MS;
    this.#registeredVoices = new RegisteredVoices((voice, signal) => this.#register(voice, signal));
  }

  async *synthesize(
    request: SynthesisRequest,
    signal: AbortSignal,
  ): AsyncGenerator<Float32Samples, void, undefined> {
    signal.throwIfAborted();
    const { voice } = request;
    const { voices, voice: own } = this.#settings;
    if (voice === undefined) yield* this.#speak(request, own === undefined ? {} : { voice: own }, signal);
    else if (voices === 'none') throw storedVoicesUnsupported();
    else if (voices === 'inline') yield* this.#speak(request, await this.#carrying(voice, signal), signal);
    else yield* this.#speakAs(voice, request, signal);
  }

  async deleteVoice(voice: Id<'voice'>): Promise<void> {
    if (this.#settings.voices !== 'register') return;
    // What arrives after the deletion would stay.
    await this.#registeredVoices.forget(voice, AbortSignal.timeout(this.#forgetMs));
    const timeouts = { firstByteMs: this.#forgetMs, idleMs: this.#forgetMs };
    const talk = async function* ({ ask }: UpstreamCall) {
      const response = await ask('DELETE', `/audio/voices/${voice}`);
      await response.body?.cancel();
      // It may never have had the voice, or have lost it.
      if (!response.ok && response.status !== 404) throw upstreamStatusError(response.status, response.headers);
      yield;
    };
    await Array.fromAsync(this.#server.call(timeouts, this.#closed.signal, talk));
  }

  ready(): ReadyReport {
    return this.#server.ready();
  }

  async close(): Promise<void> {
    this.#closed.abort(shuttingDown());
    await this.#server.close();
  }

  /** A server that has lost a voice, in a restart or because it has room for so many only, is given it again, once. */
  async *#speakAs(
    voice: SpokenVoice,
    request: SynthesisRequest,
    signal: AbortSignal,
  ): AsyncGenerator<Float32Samples, void, undefined> {
    const fields = { voice: voice.id };
    const registration = this.#registeredVoices.of(voice);
    const mayBeLost = registration.isOver;
    await waitForUpload(registration, signal);
    const isSpoken = yield* this.#speak(request, fields, signal, mayBeLost ? UNKNOWN_VOICE : NONE);
    if (isSpoken) return;
    this.#registeredVoices.lost(voice, registration);
    await waitForUpload(this.#registeredVoices.of(voice), signal);
    yield* this.#speak(request, fields, signal);
  }

  /**
   * @param tolerated statuses that are no failure, but an answer without speech.
   * @returns whether the server spoke.
   */
  async *#speak(
    request: SynthesisRequest,
    voice: VoiceFields,
    signal: AbortSignal,
    tolerated = NONE,
  ): AsyncGenerator<Float32Samples, boolean, undefined> {
    const stretch = Math.max(1, 1 / request.speed);
    const timeouts = { firstByteMs: this.#firstByteMs * stretch, idleMs: this.#idleMs * stretch };
    const body = JSON.stringify(this.#body(request, voice));
    const samplesOf = (chunks: AsyncIterable<Uint8Array>) => this.#samples(chunks, stretch);
    return yield* this.#server.call(timeouts, signal, async function* ({ post, readChunks }) {
      const response = await post('/audio/speech', body, JSON_BODY, tolerated);
      if (!response.ok) {
        await response.body?.cancel();
        return false;
      }
      requirePcm(response);
      yield* samplesOf(readChunks(response));
      return true;
    });
  }

  /** Uploads the clip under the id of the voice, which is lower-case as the names of vLLM-Omni are. */
  async #register(voice: SpokenVoice, forgotten: AbortSignal): Promise<void> {
    const timeouts = { firstByteMs: this.#firstByteMs, idleMs: this.#idleMs };
    const signal = AbortSignal.any([this.#closed.signal, forgotten]);
    const clip = await voice.clip(signal);
    const talk = async function* ({ post }: UpstreamCall) {
      const form = new FormData();
      form.append('audio_sample', new File([clip], `${voice.id}.wav`, { type: 'audio/wav' }));
      form.append('name', voice.id);
      // Where the consent of the speaker is kept: here, with the voice.
      form.append('consent', voice.id);
      form.append('ref_text', voice.refText);
      const response = await post('/audio/voices', form);
      await response.body?.cancel();
      yield;
    };
    await Array.fromAsync(this.#server.call(timeouts, signal, talk));
  }

  #carrying(voice: SpokenVoice, signal: AbortSignal): Promise<VoiceFields> {
    const known = this.#carried.get(voice);
    if (known !== undefined) return known;
    const fields = voice.clip(signal).then((clip) => ({
      ref_audio: `data:audio/wav;base64,${clip.toBase64()}`,
      ref_text: voice.refText,
      task_type: 'Base',
    }));
    this.#carried.set(voice, fields);
    return fields;
  }

  #body(request: SynthesisRequest, voice: VoiceFields) {
    return {
      model: this.#settings.model,
      input: request.text,
      ...voice,
      response_format: 'pcm',
      // vLLM-Omni streams raw bytes only when asked in this way; `stream: true` would give events.
      stream_format: 'audio',
      // Some versions of vLLM-Omni refuse any speed in a stream, so the natural one is not named.
      ...(request.speed === 1 ? {} : { speed: request.speed }),
    };
  }

  async *#samples(
    chunks: AsyncIterable<Uint8Array>,
    stretch: number,
  ): AsyncGenerator<Float32Samples, void, undefined> {
    const maxS = MAX_AUDIO_S * stretch;
    const pcm = new PcmStream();
    let audioS = 0;
    for await (const chunk of chunks) {
      const samples = pcm.push(chunk);
      audioS += samples.length / this.rateHz;
      if (audioS > maxS) throw upstreamError(`it sent more than ${maxS} s of audio`);
      if (samples.length > 0) yield samples;
    }
    if (pcm.torn) throw upstreamError('its audio ended in the middle of a sample');
  }
}

function requirePcm(response: Response): void {
  if (!PCM_TYPES.has(mediaTypeOf(response))) {
    throw upstreamError('it answered with something else than raw PCM');
  }
}
