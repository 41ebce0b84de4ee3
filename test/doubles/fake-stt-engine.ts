import type {
  AudioChunk,
  SttEngine,
  TextToken,
  Transcript,
  TranscriptionEvent,
  TranscriptionRequest,
} from '../../src/contract/engines/engine.ts';
import { untilAborted } from '../../src/kit/async/until-aborted.ts';

export interface FakeSttOptions {
  readonly languages?: readonly string[] | undefined;
  /** Deltas of every transcription. */
  readonly deltas?: readonly string[];
  /** Deltas of a transcription, by the number of the request. Default: `deltas`. */
  readonly deltasOf?: (request: number) => readonly string[];
  /** Tokens of each delta, if they are requested. Default: the engine reports none. */
  readonly tokens?: readonly (readonly TextToken[])[];
  /** Whether each pause reports the text so far. */
  readonly hasPreviews?: boolean;
  /** Overrides of the final transcript. */
  readonly final?: Partial<Transcript>;
  /** Error that is thrown after the deltas. */
  readonly failure?: (request: TranscriptionRequest) => unknown;
  /** Awaited before each delta. */
  readonly before?: (delta: number, signal: AbortSignal) => Promise<void> | void;
  /** Of previews. Default: 1. */
  readonly sentenceEnd?: number;
  /** Awaited before each preview. */
  readonly beforePreview?: () => Promise<void>;
  /** Error that is thrown before the audio is read. */
  readonly refusal?: () => unknown;
}

/** An engine without a model that reads all audio and then yields scripted events. */
export class FakeSttEngine implements SttEngine {
  readonly languages: readonly string[] | undefined;
  readonly requests: TranscriptionRequest[] = [];
  /** Number of samples that each request has read. */
  readonly heard: number[] = [];
  /** Number of requests that ended before their final transcript. */
  leftEarly = 0;
  readonly hasPreviews: boolean;
  readonly #options: FakeSttOptions;

  constructor(options: FakeSttOptions = {}) {
    this.#options = options;
    this.hasPreviews = options.hasPreviews ?? false;
    this.languages = 'languages' in options ? options.languages : ['en', 'de'];
  }

  async *transcribe(
    audio: AsyncIterable<AudioChunk>,
    request: TranscriptionRequest,
    signal: AbortSignal,
  ): AsyncGenerator<TranscriptionEvent, void, undefined> {
    const { final, failure, before, refusal } = this.#options;
    const tokens = request.textTokens ? this.#options.tokens : undefined;
    const at = this.requests.push(request) - 1;
    const deltas = this.#options.deltasOf?.(at) ?? this.#options.deltas ?? ['Ask', ' not.'];
    this.heard[at] = 0;
    let ended = false;
    try {
      const rejection = refusal?.();
      if (rejection !== undefined) throw rejection;
      for await (const piece of untilAborted(audio, signal)) {
        if (piece === 'pause' && this.hasPreviews) {
          await this.#options.beforePreview?.();
          const { sentenceEnd = 1 } = this.#options;
          request.onPreview?.({ text: deltas.join(''), sentenceEnd });
        }
        if (piece !== 'pause') this.heard[at] = (this.heard[at] ?? 0) + piece.length;
      }
      for (const [index, text] of deltas.entries()) {
        await before?.(index, signal);
        signal.throwIfAborted();
        yield { kind: 'delta', text, tokens: tokens?.[index] };
      }
      const error = failure?.(request);
      if (error !== undefined) throw error;
      ended = true;
      const transcript = this.#transcript(deltas.join(''), this.heard[at] ?? 0, final);
      yield { kind: 'final', transcript: { ...transcript, tokens: tokens?.flat() } };
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
