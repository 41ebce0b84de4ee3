import type { TokenVocabulary } from '../../src/contract/core/settings.ts';
import type { Embeddings, EmbedEngine, EmbedRequest } from '../../src/contract/engines/embed.ts';
import { textTokens } from '../../src/kit/text/token-estimate.ts';

export interface FakeEmbedOptions {
  /** Default: `model`. */
  readonly tokenIds?: TokenVocabulary;
  readonly maxTokens?: number | undefined;
  /** Awaited before each response. */
  readonly before?: (request: EmbedRequest, signal: AbortSignal) => Promise<void> | void;
  /** Error that is thrown instead of a response. */
  readonly failure?: (request: EmbedRequest) => unknown;
  /** Token count of an input. Default: one per four characters, one per id. */
  readonly tokensOf?: (input: string | readonly number[]) => number;
}

/** Default length of the vectors. */
export const FAKE_DIMENSIONS = 4;

/**
 * An engine without a model that records its requests. Vectors have length 1; equal inputs have equal vectors.
 */
export class FakeEmbedEngine implements EmbedEngine {
  readonly maxTokens: number | undefined;
  readonly tokenIds: TokenVocabulary;
  readonly requests: EmbedRequest[] = [];
  /** Number of requests that were aborted. */
  leftEarly = 0;
  closed = false;
  readonly #options: FakeEmbedOptions;

  constructor(options: FakeEmbedOptions = {}) {
    this.#options = options;
    this.maxTokens = options.maxTokens;
    this.tokenIds = options.tokenIds ?? 'model';
  }

  async embed(request: EmbedRequest, signal: AbortSignal): Promise<Embeddings> {
    this.requests.push(request);
    const { before, failure, tokensOf = estimatedTokens } = this.#options;
    await before?.(request, signal);
    if (signal.aborted) this.leftEarly += 1;
    signal.throwIfAborted();
    const error = failure?.(request);
    if (error !== undefined) throw error;
    return {
      vectors: request.inputs.map((input) => fakeVector(input, request.dimensions)),
      tokens: request.inputs.reduce((sum, input) => sum + tokensOf(input), 0),
    };
  }

  ready() {
    return { ready: !this.closed };
  }

  async close() {
    this.closed = true;
  }
}

/** The vector of {@link FakeEmbedEngine} for an input. */
export function fakeVector(
  input: string | readonly number[],
  dimensions = FAKE_DIMENSIONS,
): Float32Array<ArrayBuffer> {
  const codes = typeof input === 'string' ? Array.from(input, (letter) => letter.codePointAt(0) ?? 0) : input;
  const vector = new Float32Array(dimensions).fill(1);
  for (const [at, code] of codes.entries()) {
    const place = at % dimensions;
    vector[place] = (vector[place] ?? 0) + ((code * (at + 7)) % 101);
  }
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

function estimatedTokens(input: string | readonly number[]): number {
  return typeof input === 'string' ? textTokens(input) : input.length;
}
