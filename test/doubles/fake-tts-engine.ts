import type { Float32Samples } from '../../src/contract/engines/audio.ts';
import type { SynthesisRequest, TtsEngine, VoiceLanguage } from '../../src/contract/engines/engine.ts';

export interface FakeTtsOptions {
  readonly rateHz?: number;
  /** Names of its own voices. */
  readonly voices?: readonly string[];
  /** Languages that it speaks; default: unknown. */
  readonly languages?: readonly string[];
  /** The language of each voice; default: unknown. */
  readonly voiceLanguage?: VoiceLanguage;
  /** Sample arrays of a request; default: one array of 2,400 samples of 0.25. */
  readonly runs?: (request: SynthesisRequest) => readonly number[][];
  /** Error that is thrown after the audio. */
  readonly failure?: (request: SynthesisRequest) => unknown;
  /** Awaited before each array. */
  readonly before?: (request: SynthesisRequest, run: number, signal: AbortSignal) => Promise<void> | void;
}

/** An engine without a model that records its requests and counts its sample arrays. */
export class FakeTtsEngine implements TtsEngine {
  readonly rateHz: number;
  readonly requests: SynthesisRequest[] = [];
  runsMade = 0;
  /** Number of requests that ended before their last array. */
  leftEarly = 0;
  readonly #options: FakeTtsOptions;

  constructor(options: FakeTtsOptions = {}) {
    this.rateHz = options.rateHz ?? 24_000;
    this.#options = options;
  }

  async *synthesize(request: SynthesisRequest, signal: AbortSignal): AsyncGenerator<Float32Samples> {
    this.requests.push(request);
    const { runs, failure, before } = this.#options;
    const all = runs?.(request) ?? [new Array(2400).fill(0.25)];
    let ended = false;
    try {
      for (const [index, run] of all.entries()) {
        await before?.(request, index, signal);
        signal.throwIfAborted();
        this.runsMade += 1;
        yield Float32Array.from(run);
      }
      ended = true;
      const error = failure?.(request);
      if (error !== undefined) throw error;
    } finally {
      if (!ended) this.leftEarly += 1;
    }
  }

  get languages(): readonly string[] | undefined {
    return this.#options.languages;
  }

  voiceLanguage(): VoiceLanguage | undefined {
    return this.#options.voiceLanguage;
  }

  languageOf(tag: string): string | undefined {
    return this.languages?.find((each) => each === tag);
  }

  hasVoice(name: string): boolean {
    return this.#options.voices?.includes(name) ?? false;
  }

  ready() {
    return { ready: true };
  }

  async close() {}
}
