/**
 * Speech synthesis by an upstream server with OpenAI's `/v1/audio/speech`: vLLM-Omni, Kokoro-FastAPI, speaches
 * (partner-and-upstreams B.1, B.7).
 */

import { invalidRequest, type ServiceError, shuttingDown } from '../../../contract/core/error.ts';
import type { Id } from '../../../contract/core/id.ts';
import type { Logger } from '../../../contract/core/logger.ts';
import { quotedName } from '../../../contract/core/nearest-name.ts';
import type { Float32Samples } from '../../../contract/engines/audio.ts';
import type { ReadyReport, SynthesisRequest, TtsEngine } from '../../../contract/engines/engine.ts';
import type { SpokenVoice } from '../../../contract/engines/spoken-voice.ts';
import { storedVoicesUnsupported } from '../../../contract/voice-errors.ts';
import { codePoints } from '../../../kit/validation/code-points.ts';
import type { UpstreamMeter } from '../client/metrics.ts';
import { mediaTypeOf } from '../client/response-body.ts';
import { type UpstreamCall, UpstreamServer } from '../client/server.ts';
import { upstreamError, upstreamStatusError } from '../client/upstream-error.ts';
import type { UpstreamTtsSettings } from '../settings.ts';
import { PcmStream } from './pcm-stream.ts';
import { RegisteredVoices, waitForUpload } from './registered-voices.ts';

const JSON_BODY = { 'content-type': 'application/json' };
/** Short, because the server only deletes a file and the caller waits. */
const DELETION_TIMEOUT_MS = 5_000;
/** Limit of the audio of one request at natural speed: far more than a text of 600 characters needs. */
const MAX_AUDIO_S = 600;
const MAX_NAME_CHARACTERS = 200;
/** As in OpenAI's API. */
const MAX_INSTRUCTION_CHARACTERS = 4096;
const CONTROL_CHARACTERS = /\p{C}/u;
/** A server that sends less audio in the idle time is too slow to be useful, and would keep the call open for hours. */
const PROGRESS_S = 0.5;
const PCM_TYPES: ReadonlySet<string> = new Set(['audio/pcm', 'audio/raw', 'application/octet-stream', '']);

export interface UpstreamTtsOptions {
  readonly settings: UpstreamTtsSettings;
  readonly log: Logger;
  readonly meter?: UpstreamMeter;
  /**
   * Maximum time until the first {@link PROGRESS_S} of audio or the end, default 60,000 ms. At a speed below 1, it is divided by the speed, because
   * the audio is longer.
   */
  readonly firstPartMs?: number;
  /** Maximum time for each further {@link PROGRESS_S} of audio, default 20,000 ms; scaled like `firstPartMs`. */
  readonly idleMs?: number;
  /** How long a deletion waits for an upload of the same voice, and then for the server. Default 5000 ms. */
  readonly deletionTimeoutMs?: number;
  /** Interval of the health checks of an unavailable server. */
  readonly probeMs?: number;
}

/** Statuses for an unknown voice. Servers also return them for other invalid requests. */
const UNKNOWN_VOICE_STATUSES: readonly number[] = [400, 404];
const NO_STATUSES: readonly number[] = [];

/** Request fields that select the voice. */
type VoiceFields = Readonly<Record<string, string>>;

/** Creates the engine. Nothing is sent before the first request. */
export function upstreamTtsEngine(options: UpstreamTtsOptions): TtsEngine {
  return new UpstreamTtsEngine(options);
}

class UpstreamTtsEngine implements TtsEngine {
  readonly rateHz: number;
  readonly compatibility: TtsEngine['compatibility'];
  readonly #settings: UpstreamTtsSettings;
  readonly #server: UpstreamServer;
  readonly #firstPartMs: number;
  readonly #idleMs: number;
  readonly #deletionTimeoutMs: number;
  readonly #registeredVoices: RegisteredVoices;
  /** Voice fields with the clip, so that a clip is read once for all sentences of a request. */
  readonly #inlineFields = new WeakMap<SpokenVoice, Promise<VoiceFields>>();
  readonly #closed = new AbortController();

  constructor(options: UpstreamTtsOptions) {
    this.#settings = options.settings;
    this.rateHz = options.settings.rateHz;
    this.compatibility = options.settings.compatibility;
    this.#server = new UpstreamServer(options);
    this.#firstPartMs = options.firstPartMs ?? 60_000;
    this.#idleMs = options.idleMs ?? 20_000;
    this.#deletionTimeoutMs = options.deletionTimeoutMs ?? DELETION_TIMEOUT_MS;
    this.#registeredVoices = new RegisteredVoices((voice, signal) => this.#register(voice, signal));
  }

  /** Only the server knows its voices. It rejects the others. */
  hasVoice(name: string): boolean {
    return codePoints(name) <= MAX_NAME_CHARACTERS && !CONTROL_CHARACTERS.test(name);
  }

  async *synthesize(
    request: SynthesisRequest,
    signal: AbortSignal,
  ): AsyncGenerator<Float32Samples, void, undefined> {
    signal.throwIfAborted();
    requireShort(request.instructions);
    const { voice, voiceName } = request;
    const { voices, voice: defaultVoice } = this.#settings;
    if (voiceName !== undefined) {
      const fields = { voice: voiceName };
      const isKnown = yield* this.#requestSpeech(request, fields, signal, UNKNOWN_VOICE_STATUSES);
      if (!isKnown) throw unknownName(voiceName);
    } else if (voice === undefined)
      yield* this.#requestSpeech(request, defaultVoice === undefined ? {} : { voice: defaultVoice }, signal);
    else if (voices === 'none') throw storedVoicesUnsupported();
    else if (voices === 'inline')
      yield* this.#requestSpeech(request, await this.#inlineVoice(voice, signal), signal);
    else yield* this.#synthesizeRegistered(voice, request, signal);
  }

  async deleteVoice(voice: Id<'tts-vc-voice_'>): Promise<void> {
    if (this.#settings.voices !== 'register') return;
    // An upload that arrives after the deletion would leave the voice on the server.
    await this.#registeredVoices.remove(voice, AbortSignal.timeout(this.#deletionTimeoutMs));
    const timeouts = { firstPartMs: this.#deletionTimeoutMs, idleMs: this.#deletionTimeoutMs };
    const run = async function* ({ request }: UpstreamCall) {
      const response = await request('DELETE', `/audio/voices/${voice}`);
      await response.body?.cancel();
      // The voice may never have been uploaded, or the server may have lost it.
      if (!response.ok && response.status !== 404)
        throw upstreamStatusError(response.status, response.headers);
      yield;
    };
    await Array.fromAsync(this.#server.call(timeouts, this.#closed.signal, run));
  }

  ready(): ReadyReport {
    return this.#server.ready();
  }

  async close(): Promise<void> {
    this.#closed.abort(shuttingDown());
    await this.#server.close();
  }

  /** Uploads the voice once more if the server has lost it, through a restart or because its storage is limited. */
  async *#synthesizeRegistered(
    voice: SpokenVoice,
    request: SynthesisRequest,
    signal: AbortSignal,
  ): AsyncGenerator<Float32Samples, void, undefined> {
    const fields = { voice: voice.id };
    const registration = this.#registeredVoices.ensure(voice);
    const mayBeLost = registration.isCompleted;
    await waitForUpload(registration, signal);
    const isSynthesized = yield* this.#requestSpeech(
      request,
      fields,
      signal,
      mayBeLost ? UNKNOWN_VOICE_STATUSES : NO_STATUSES,
    );
    if (isSynthesized) return;
    this.#registeredVoices.invalidate(voice, registration);
    await waitForUpload(this.#registeredVoices.ensure(voice), signal);
    yield* this.#requestSpeech(request, fields, signal);
  }

  /**
   * @param acceptedStatuses error statuses for which it returns false instead of throwing.
   * @returns whether the server returned audio.
   */
  async *#requestSpeech(
    request: SynthesisRequest,
    voice: VoiceFields,
    signal: AbortSignal,
    acceptedStatuses = NO_STATUSES,
  ): AsyncGenerator<Float32Samples, boolean, undefined> {
    const stretch = Math.max(1, 1 / request.speed);
    const timeouts = { firstPartMs: this.#firstPartMs * stretch, idleMs: this.#idleMs * stretch };
    const body = JSON.stringify(this.#body(request, voice));
    const samplesOf = (call: UpstreamCall, response: Response) => this.#samples(call, response, stretch);
    return yield* this.#server.call(timeouts, signal, async function* (call) {
      const response = await call.post('/audio/speech', body, JSON_BODY, acceptedStatuses);
      if (!response.ok) {
        await response.body?.cancel();
        return false;
      }
      requirePcm(response);
      yield* samplesOf(call, response);
      return true;
    });
  }

  /** Uploads the clip under the id of the voice. The id is in lower case, as vLLM-Omni requires. */
  async #register(voice: SpokenVoice, deleted: AbortSignal): Promise<void> {
    const timeouts = { firstPartMs: this.#firstPartMs, idleMs: this.#idleMs };
    const signal = AbortSignal.any([this.#closed.signal, deleted]);
    const clip = await voice.clip(signal);
    const run = async function* ({ post }: UpstreamCall) {
      const form = new FormData();
      form.append('audio_sample', new File([clip], `${voice.id}.wav`, { type: 'audio/wav' }));
      form.append('name', voice.id);
      // A reference to the consent of the speaker, which this service stores with the voice.
      form.append('consent', voice.id);
      form.append('ref_text', voice.refText);
      const response = await post('/audio/voices', form);
      await response.body?.cancel();
      yield;
    };
    await Array.fromAsync(this.#server.call(timeouts, signal, run));
  }

  #inlineVoice(voice: SpokenVoice, signal: AbortSignal): Promise<VoiceFields> {
    const cached = this.#inlineFields.get(voice);
    if (cached !== undefined) return cached;
    const fields = voice.clip(signal).then((clip) => ({
      ref_audio: `data:audio/wav;base64,${clip.toBase64()}`,
      ref_text: voice.refText,
      task_type: 'Base',
    }));
    this.#inlineFields.set(voice, fields);
    return fields;
  }

  #body(request: SynthesisRequest, voice: VoiceFields) {
    return {
      model: this.#settings.model,
      input: request.text,
      ...voice,
      response_format: 'pcm',
      // vLLM-Omni streams raw bytes only with this field. `stream: true` would return events.
      stream_format: 'audio',
      // Some versions of vLLM-Omni reject any speed for a stream, so the natural speed is omitted.
      ...(request.speed === 1 ? {} : { speed: request.speed }),
      // Only on request, because servers of OpenAI's API may reject the field.
      ...(request.language === undefined ? {} : { language: request.language }),
      ...(request.instructions === undefined ? {} : { instructions: request.instructions }),
    };
  }

  async *#samples(
    call: UpstreamCall,
    response: Response,
    stretch: number,
  ): AsyncGenerator<Float32Samples, void, undefined> {
    const maxS = MAX_AUDIO_S * stretch;
    const pcm = new PcmStream();
    let audioS = 0;
    let nextProgressS = PROGRESS_S;
    for await (const chunk of call.readChunks(response)) {
      const samples = pcm.push(chunk);
      audioS += samples.length / this.rateHz;
      if (audioS > maxS) throw upstreamError(`it sent more than ${maxS} s of audio`);
      if (audioS >= nextProgressS) {
        call.progressed();
        nextProgressS = audioS + PROGRESS_S;
      }
      if (samples.length > 0) yield samples;
    }
    if (pcm.hasPartialSample) throw upstreamError('the audio ended in the middle of a sample');
  }
}

function unknownName(name: string): ServiceError {
  return invalidRequest(
    `The server of this model rejected the request with the voice${quotedName(name)}, which it may not have. Name another voice, or omit 'voice' for the default one.`,
    'voice',
    'voice_not_found',
  );
}

/** Each sentence of a text is sent with the instructions. @throws ServiceError `invalid_request`. */
function requireShort(instructions = ''): void {
  if (codePoints(instructions) <= MAX_INSTRUCTION_CHARACTERS) return;
  throw invalidRequest(
    `'instructions' must have at most ${MAX_INSTRUCTION_CHARACTERS} characters for this model.`,
    'instructions',
    'string_above_max_length',
  );
}

function requirePcm(response: Response): void {
  if (!PCM_TYPES.has(mediaTypeOf(response))) {
    throw upstreamError('the response is not raw PCM');
  }
}
