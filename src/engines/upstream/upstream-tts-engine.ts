/**
 * Speech from another server that speaks OpenAI's `/v1/audio/speech`: vLLM-Omni, Kokoro-FastAPI, speaches
 * (partner-and-upstreams B.1, B.7). Only the upstream's own key is sent, never a customer's.
 */

import type { Float32Samples } from '../../contract/audio.ts';
import type { ReadyReport, SynthesisRequest, TtsEngine } from '../../contract/engine.ts';
import { ServiceError } from '../../contract/error.ts';
import type { Logger } from '../../contract/logger.ts';
import type { UpstreamTtsSettings } from '../../contract/settings.ts';
import { PcmStream } from './pcm-stream.ts';
import { upstreamErrorName, upstreamFault, upstreamRefusal } from './upstream-error.ts';

/** Far beyond what a text of 600 characters gives at the natural speed. */
const LONGEST_AUDIO_S = 600;
const ERROR_BODY_BYTES = 64 * 1024;
const PCM_TYPES: ReadonlySet<string> = new Set(['audio/pcm', 'audio/raw', 'application/octet-stream', '']);

export interface UpstreamTtsOptions {
  readonly settings: UpstreamTtsSettings;
  readonly log: Logger;
  /**
   * How long the upstream may take until its first byte of audio, and then between two portions. Slow speech
   * is more audio and gets as much more time.
   */
  readonly firstByteMs?: number;
  readonly idleMs?: number;
  /** Pause between two looks at an upstream that failed. */
  readonly probeMs?: number;
}

/** Makes the engine; nothing is sent before the first request. */
export function upstreamTtsEngine(options: UpstreamTtsOptions): TtsEngine {
  return new UpstreamTtsEngine(options);
}

class UpstreamTtsEngine implements TtsEngine {
  readonly rateHz: number;
  readonly #settings: UpstreamTtsSettings;
  readonly #log: Logger;
  readonly #firstByteMs: number;
  readonly #idleMs: number;
  readonly #probeMs: number;
  readonly #closed = new AbortController();
  #probe: ReturnType<typeof setTimeout> | undefined;

  constructor(options: UpstreamTtsOptions) {
    this.#settings = options.settings;
    this.rateHz = options.settings.rateHz;
    this.#log = options.log;
    this.#firstByteMs = options.firstByteMs ?? 60_000;
    this.#idleMs = options.idleMs ?? 20_000;
    this.#probeMs = options.probeMs ?? 5_000;
  }

  async *synthesize(
    request: SynthesisRequest,
    signal: AbortSignal,
  ): AsyncGenerator<Float32Samples, void, undefined> {
    signal.throwIfAborted();
    const stretch = Math.max(1, 1 / request.speed);
    const patience = new Patience(this.#firstByteMs * stretch);
    const stop = new AbortController();
    const ended = AbortSignal.any([signal, patience.signal, stop.signal, this.#closed.signal]);
    try {
      const response = await fetch(`${this.#settings.baseUrl}/audio/speech`, {
        method: 'POST',
        // A redirect could carry the key to another host.
        redirect: 'error',
        headers: { 'content-type': 'application/json', ...this.#authorization() },
        body: JSON.stringify(this.#body(request)),
        signal: ended,
      });
      if (!response.ok) throw await this.#refusal(response);
      requirePcm(response);
      yield* this.#samples(response, patience, stretch);
      this.#reached();
    } catch (error) {
      signal.throwIfAborted();
      throw this.#failure(error, patience);
    } finally {
      patience.pause();
      // Tells the upstream to stop when the consumer has gone before the end.
      stop.abort();
    }
  }

  ready(): ReadyReport {
    if (this.#probe === undefined) return { ready: true, detail: 'upstream' };
    return { ready: false, detail: 'the upstream does not answer' };
  }

  async close(): Promise<void> {
    clearTimeout(this.#probe);
    this.#closed.abort(
      new ServiceError('overloaded', 'The server is shutting down.', {
        code: 'server_overloaded',
        retryAfterS: 1,
      }),
    );
  }

  #authorization(): Record<string, string> {
    const { apiKey } = this.#settings;
    return apiKey === undefined ? {} : { authorization: `Bearer ${apiKey.reveal()}` };
  }

  #body(request: SynthesisRequest) {
    const voice = request.voice ?? this.#settings.voice;
    return {
      model: this.#settings.model,
      input: request.text,
      ...(voice === undefined ? {} : { voice }),
      response_format: 'pcm',
      // vLLM-Omni streams raw bytes only when asked in this way; `stream: true` would give events.
      stream_format: 'audio',
      // Some versions of vLLM-Omni refuse any speed in a stream, so the natural one is not named.
      ...(request.speed === 1 ? {} : { speed: request.speed }),
    };
  }

  async *#samples(
    response: Response,
    patience: Patience,
    stretch: number,
  ): AsyncGenerator<Float32Samples, void, undefined> {
    const longestS = LONGEST_AUDIO_S * stretch;
    const pcm = new PcmStream();
    let audioS = 0;
    for await (const portion of response.body ?? []) {
      patience.pause();
      const samples = pcm.push(portion);
      audioS += samples.length / this.rateHz;
      if (audioS > longestS) throw upstreamFault(`it sent more than ${longestS} s of audio`);
      // The consumer's time is not the upstream's.
      if (samples.length > 0) yield samples;
      patience.start(this.#idleMs * stretch);
    }
    if (pcm.torn) throw upstreamFault('its audio ended in the middle of a sample');
  }

  async #refusal(response: Response): Promise<ServiceError> {
    const { status } = response;
    const name = upstreamErrorName(await textUpTo(response, ERROR_BODY_BYTES));
    this.#log.warn('upstream refused', { status, error: name });
    return upstreamRefusal(status, response.headers);
  }

  #failure(error: unknown, patience: Patience): ServiceError {
    const failure = this.#explain(error, patience);
    // A refusal of one request says nothing of the next; an upstream that is away does.
    if (failure.kind === 'upstream' && failure.cause !== undefined) this.#lost();
    return failure;
  }

  #explain(error: unknown, patience: Patience): ServiceError {
    if (this.#closed.signal.aborted) return this.#closed.signal.reason;
    if (error instanceof ServiceError) return error;
    if (patience.signal.aborted) return upstreamFault('it took too long', error);
    return upstreamFault('the connection to it could not be made, or broke', error);
  }

  /** Looks from time to time whether the upstream is back; until then the service is not ready. */
  #lost(): void {
    if (this.#probe !== undefined || this.#closed.signal.aborted) return;
    this.#log.warn('upstream does not answer');
    const look = async () => {
      if (await this.#answers()) this.#reached();
      else if (!this.#closed.signal.aborted) this.#probe = setTimeout(look, this.#probeMs).unref();
    };
    this.#probe = setTimeout(look, this.#probeMs).unref();
  }

  #reached(): void {
    if (this.#probe === undefined) return;
    clearTimeout(this.#probe);
    this.#probe = undefined;
    this.#log.info('upstream answers again');
  }

  async #answers(): Promise<boolean> {
    try {
      const response = await fetch(`${this.#settings.baseUrl}/models`, {
        redirect: 'error',
        headers: this.#authorization(),
        signal: AbortSignal.any([this.#closed.signal, AbortSignal.timeout(this.#probeMs)]),
      });
      await response.body?.cancel();
      return response.status < 500;
    } catch {
      return false;
    }
  }
}

/** A deadline that is moved on with each sign of life and stands still while the consumer is busy. */
class Patience {
  readonly #controller = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(firstMs: number) {
    this.start(firstMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  start(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#controller.abort(), ms);
  }

  pause(): void {
    clearTimeout(this.#timer);
  }
}

function requirePcm(response: Response): void {
  const type = (response.headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (!PCM_TYPES.has(type)) throw upstreamFault('it answered with something else than raw PCM');
}

async function textUpTo(response: Response, bytes: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const portion of response.body ?? []) {
      text += decoder.decode(portion, { stream: true });
      if (text.length > bytes) break;
    }
  } catch {
    // A body that breaks off still leaves its status.
  }
  return text;
}
