import type {
  AudioChunk,
  SttEngine,
  Transcript,
  TranscriptionEvent,
  TranscriptionRequest,
} from '../../src/contract/engines/engine.ts';

export interface FakeSttOptions {
  readonly languages?: readonly string[] | undefined;
  /** The deltas of every request. */
  readonly deltas?: readonly string[];
  /** Fields of the final that differ from what follows from the deltas. */
  readonly final?: Partial<Transcript>;
  /** Thrown after the deltas. */
  readonly failure?: (request: TranscriptionRequest) => unknown;
  /** Awaited before each delta. */
  readonly before?: (delta: number, signal: AbortSignal) => Promise<void> | void;
  /** Fails before it hears anything. */
  readonly refusal?: () => unknown;
}

/** An engine without a model: it hears everything, then says what the script says. */
export class FakeSttEngine implements SttEngine {
  readonly languages: readonly string[] | undefined;
  readonly requests: TranscriptionRequest[] = [];
  /** Samples that each request heard. */
  readonly heard: number[] = [];
  /** Requests that ended before their final. */
  leftEarly = 0;
  readonly #options: FakeSttOptions;

  constructor(options: FakeSttOptions = {}) {
    this.#options = options;
    this.languages = 'languages' in options ? options.languages : ['en', 'de'];
  }

  async *transcribe(
    audio: AsyncIterable<AudioChunk>,
    request: TranscriptionRequest,
    signal: AbortSignal,
  ): AsyncGenerator<TranscriptionEvent, void, undefined> {
    const { deltas = ['Ask', ' not.'], final, failure, before, refusal } = this.#options;
    const at = this.requests.push(request) - 1;
    this.heard[at] = 0;
    let ended = false;
    try {
      const refused = refusal?.();
      if (refused !== undefined) throw refused;
      for await (const piece of audio) {
        signal.throwIfAborted();
        if (piece !== 'pause') this.heard[at] = (this.heard[at] ?? 0) + piece.length;
      }
      for (const [index, text] of deltas.entries()) {
        await before?.(index, signal);
        signal.throwIfAborted();
        yield { kind: 'delta', text };
      }
      const error = failure?.(request);
      if (error !== undefined) throw error;
      ended = true;
      yield { kind: 'final', transcript: this.#transcript(deltas.join(''), this.heard[at] ?? 0, final) };
    } finally {
      if (!ended) this.leftEarly += 1;
    }
  }

  #transcript(text: string, samples: number, fields: Partial<Transcript> = {}): Transcript {
    return {
      text,
      language: 'en',
      durationS: samples / 16_000,
      inputTokens: { audio: 11, text: 2 },
      outputTokens: 3,
      segments: [],
      words: [],
      ...fields,
    };
  }

  ready() {
    return { ready: true };
  }

  async close() {}
}
