/** Embeddings of an upstream server with OpenAI's `/v1/embeddings`: vLLM, SGLang, llama.cpp, Ollama. */

import { invalidRequest } from '../../../contract/core/error.ts';
import type { Logger } from '../../../contract/core/logger.ts';
import type { TokenVocabulary } from '../../../contract/core/settings.ts';
import type { Embeddings, EmbedEngine, EmbedRequest } from '../../../contract/engines/embed.ts';
import type { ReadyReport } from '../../../contract/engines/engine.ts';
import { unitVector } from '../../../kit/math/unit-vector.ts';
import { textTokens } from '../../../kit/text/token-estimate.ts';
import { explainRejection } from '../client/explain-rejection.ts';
import type { UpstreamMeter } from '../client/metrics.ts';
import { readBodyText } from '../client/response-body.ts';
import { type CallTimeouts, type UpstreamCall, UpstreamServer } from '../client/server.ts';
import { upstreamError } from '../client/upstream-error.ts';
import { type Fields, fieldsOf, listOf } from '../client/wire-values.ts';
import type { UpstreamEmbedSettings } from '../settings.ts';

/** Maximum size of a response: 2048 vectors of 4096 numbers as JSON. */
const MAX_RESPONSE_BYTES = 192 * 1024 * 1024;

export interface UpstreamEmbedOptions {
  readonly settings: UpstreamEmbedSettings;
  readonly log: Logger;
  readonly meter?: UpstreamMeter;
  /** Maximum time until the end of a response, default 300,000 ms. */
  readonly timeoutMs?: number;
  /** Interval of the health checks of an unavailable server. */
  readonly probeMs?: number;
}

/** Creates the engine. Nothing is sent before the first request. */
export function upstreamEmbedEngine(options: UpstreamEmbedOptions): EmbedEngine {
  return new UpstreamEmbedEngine(options);
}

class UpstreamEmbedEngine implements EmbedEngine {
  /** Not known to this service. */
  readonly maxTokens = undefined;
  readonly tokenIds: TokenVocabulary | undefined;
  readonly #model: string;
  readonly #server: UpstreamServer;
  readonly #timeouts: CallTimeouts;

  constructor(options: UpstreamEmbedOptions) {
    this.#model = options.settings.model;
    this.tokenIds = options.settings.tokenIds;
    this.#server = new UpstreamServer({ ...options, explain: explainRejection });
    this.#timeouts = { firstPartMs: options.timeoutMs ?? 300_000 };
  }

  async embed(request: EmbedRequest, signal: AbortSignal): Promise<Embeddings> {
    signal.throwIfAborted();
    const { inputs, dimensions } = request;
    const body = { model: this.#model, input: inputs, encoding_format: 'base64', dimensions };
    const run = async function* ({ post, readChunks }: UpstreamCall) {
      const headers = { 'content-type': 'application/json' };
      const response = await post('/embeddings', JSON.stringify(body), headers);
      yield await readBodyText(readChunks(response), MAX_RESPONSE_BYTES);
    };
    const [text = ''] = await Array.fromAsync(this.#server.call(this.#timeouts, signal, run));
    const response = parseFields(text);
    const vectors = vectorsOf(response, inputs.length).map((vector) => resize(vector, dimensions));
    return { vectors, tokens: tokensOf(response) ?? estimatedTokens(inputs) };
  }

  ready(): ReadyReport {
    return this.#server.ready();
  }

  close(): Promise<void> {
    return this.#server.close();
  }
}

function parseFields(body: string): Fields {
  try {
    return fieldsOf(JSON.parse(body));
  } catch {
    throw invalidResponse();
  }
}

/** The vectors in the order of the inputs. @throws ServiceError `upstream` unless there is one for each input. */
function vectorsOf(response: Fields, count: number): Float32Array<ArrayBuffer>[] {
  const vectors = new Array<Float32Array<ArrayBuffer> | undefined>(count);
  for (const [position, { index = position, embedding }] of listOf(response.data).entries()) {
    if (Number.isInteger(index)) vectors[index as number] = vectorOf(embedding);
  }
  const received = vectors.slice(0, count).filter((vector) => vector !== undefined);
  if (received.length !== count) throw invalidResponse();
  return received;
}

/** Servers that do not support `encoding_format: base64` send an array of numbers. */
function vectorOf(embedding: unknown): Float32Array<ArrayBuffer> | undefined {
  const vector = typeof embedding === 'string' ? fromBase64(embedding) : fromList(embedding);
  return vector !== undefined && vector.length > 0 && vector.every(Number.isFinite) ? vector : undefined;
}

function fromBase64(text: string): Float32Array<ArrayBuffer> | undefined {
  const bytes = Uint8Array.from(Buffer.from(text, 'base64'));
  return bytes.length % 4 === 0 ? new Float32Array(bytes.buffer) : undefined;
}

function fromList(list: unknown): Float32Array<ArrayBuffer> | undefined {
  return Array.isArray(list) ? Float32Array.from(list, Number) : undefined;
}

/**
 * The first `dimensions` values, normalized to length 1. Servers that do not support `dimensions` send more values.
 * @throws ServiceError `invalid_request` when the vector has fewer values.
 */
function resize(vector: Float32Array<ArrayBuffer>, dimensions = vector.length): Float32Array<ArrayBuffer> {
  if (vector.length < dimensions) {
    throw invalidRequest(`'dimensions' must be at most ${vector.length} for this model.`, 'dimensions');
  }
  return unitVector(vector.slice(0, dimensions));
}

function tokensOf(response: Fields): number | undefined {
  const { prompt_tokens: tokens } = fieldsOf(response.usage);
  return Number.isSafeInteger(tokens) && (tokens as number) > 0 ? (tokens as number) : undefined;
}

function estimatedTokens(inputs: EmbedRequest['inputs']): number {
  return inputs.reduce(
    (sum, input) => sum + (typeof input === 'string' ? textTokens(input) : input.length),
    0,
  );
}

function invalidResponse() {
  return upstreamError('the response does not contain the requested embeddings');
}
