/**
 * Speech from another server that speaks OpenAI's `/v1/audio/speech`: vLLM-Omni, Kokoro-FastAPI, speaches
 * (partner-and-upstreams B.1, B.7).
 */

import type { Float32Samples } from '../../contract/audio.ts';
import type { ReadyReport, SynthesisRequest, TtsEngine } from '../../contract/engine.ts';
import type { Logger } from '../../contract/logger.ts';
import type { UpstreamTtsSettings } from '../../contract/settings.ts';
import { PcmStream } from './pcm-stream.ts';
import { mediaTypeOf } from './upstream-body.ts';
import { upstreamFault } from './upstream-error.ts';
import type { UpstreamMeter } from './upstream-meter.ts';
import { UpstreamServer } from './upstream-server.ts';

/** Far beyond what a text of 600 characters gives at the natural speed. */
const LONGEST_AUDIO_S = 600;
const PCM_TYPES: ReadonlySet<string> = new Set(['audio/pcm', 'audio/raw', 'application/octet-stream', '']);

export interface UpstreamTtsOptions {
  readonly settings: UpstreamTtsSettings;
  readonly log: Logger;
  readonly meter?: UpstreamMeter;
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
  readonly #server: UpstreamServer;
  readonly #firstByteMs: number;
  readonly #idleMs: number;

  constructor(options: UpstreamTtsOptions) {
    this.#settings = options.settings;
    this.rateHz = options.settings.rateHz;
    this.#server = new UpstreamServer(options);
    this.#firstByteMs = options.firstByteMs ?? 60_000;
    this.#idleMs = options.idleMs ?? 20_000;
  }

  async *synthesize(
    request: SynthesisRequest,
    signal: AbortSignal,
  ): AsyncGenerator<Float32Samples, void, undefined> {
    signal.throwIfAborted();
    const stretch = Math.max(1, 1 / request.speed);
    const limits = { firstByteMs: this.#firstByteMs * stretch, idleMs: this.#idleMs * stretch };
    const body = JSON.stringify(this.#body(request));
    const samplesOf = (portions: AsyncIterable<Uint8Array>) => this.#samples(portions, stretch);
    yield* this.#server.call(limits, signal, async function* ({ post, portionsOf }) {
      const response = await post('/audio/speech', body, { 'content-type': 'application/json' });
      requirePcm(response);
      yield* samplesOf(portionsOf(response));
    });
  }

  ready(): ReadyReport {
    return this.#server.ready();
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  #body(request: SynthesisRequest) {
    const voice = request.voice?.id.toLowerCase() ?? this.#settings.voice;
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
    portions: AsyncIterable<Uint8Array>,
    stretch: number,
  ): AsyncGenerator<Float32Samples, void, undefined> {
    const longestS = LONGEST_AUDIO_S * stretch;
    const pcm = new PcmStream();
    let audioS = 0;
    for await (const portion of portions) {
      const samples = pcm.push(portion);
      audioS += samples.length / this.rateHz;
      if (audioS > longestS) throw upstreamFault(`it sent more than ${longestS} s of audio`);
      if (samples.length > 0) yield samples;
    }
    if (pcm.torn) throw upstreamFault('its audio ended in the middle of a sample');
  }
}

function requirePcm(response: Response): void {
  if (!PCM_TYPES.has(mediaTypeOf(response))) {
    throw upstreamFault('it answered with something else than raw PCM');
  }
}
