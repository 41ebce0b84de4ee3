/** Vectors from another server that speaks OpenAI's `/v1/embeddings`: vLLM, SGLang, llama.cpp, Ollama. */

import { invalidRequest } from '../../../contract/core/error.ts';
import type { Logger } from '../../../contract/core/logger.ts';
import type { UpstreamModelSettings } from '../../../contract/core/settings.ts';
import type { Embeddings, EmbedEngine, EmbedRequest } from '../../../contract/engines/embed.ts';
import type { ReadyReport } from '../../../contract/engines/engine.ts';
import { unitVector } from '../../../kit/math/unit-vector.ts';
import { textTokens } from '../../../kit/text/token-estimate.ts';
import { bodyText } from '../client/body.ts';
import { upstreamFault } from '../client/errors.ts';
import type { UpstreamMeter } from '../client/metrics.ts';
import { explainRefusal } from '../client/rejection.ts';
import { type UpstreamCall, UpstreamServer } from '../client/server.ts';
import { type Fields, fieldsOf, listOf } from '../client/wire-values.ts';

/** Longest answer, in bytes: 2048 vectors of 4096 numbers as JSON. */
const ANSWER_BYTES = 192 * 1024 * 1024;

export interface UpstreamEmbedOptions {
  readonly settings: UpstreamModelSettings;
  readonly log: Logger;
  readonly meter?: UpstreamMeter;
  /** How long the upstream may take until its first byte, and then between two portions. */
  readonly firstByteMs?: number;
  readonly idleMs?: number;
  /** Pause between two looks at an upstream that failed. */
  readonly probeMs?: number;
}

/** Makes the engine; nothing is sent before the first request. */
export function upstreamEmbedEngine(options: UpstreamEmbedOptions): EmbedEngine {
  return new UpstreamEmbedEngine(options);
}

class UpstreamEmbedEngine implements EmbedEngine {
  /** Only its server knows. */
  readonly maxTokens = undefined;
  readonly #model: string;
  readonly #server: UpstreamServer;
  readonly #limits: { readonly firstByteMs: number; readonly idleMs: number };

  constructor(options: UpstreamEmbedOptions) {
    this.#model = options.settings.model;
    this.#server = new UpstreamServer({ ...options, explain: explainRefusal });
    this.#limits = { firstByteMs: options.firstByteMs ?? 300_000, idleMs: options.idleMs ?? 60_000 };
  }

  async embed(request: EmbedRequest, signal: AbortSignal): Promise<Embeddings> {
    signal.throwIfAborted();
    const { inputs, dimensions } = request;
    const body = { model: this.#model, input: inputs, encoding_format: 'base64', dimensions };
    const talk = async function* ({ post, portionsOf }: UpstreamCall) {
      const headers = { 'content-type': 'application/json' };
      const response = await post('/embeddings', JSON.stringify(body), headers);
      yield await bodyText(portionsOf(response), ANSWER_BYTES);
    };
    const [text = ''] = await Array.fromAsync(this.#server.call(this.#limits, signal, talk));
    const answer = parsed(text);
    const vectors = vectorsOf(answer, inputs.length).map((vector) => sized(vector, dimensions));
    return { vectors, tokens: tokensOf(answer) ?? estimatedTokens(inputs) };
  }

  ready(): ReadyReport {
    return this.#server.ready();
  }

  close(): Promise<void> {
    return this.#server.close();
  }
}

function parsed(body: string): Fields {
  try {
    return fieldsOf(JSON.parse(body));
  } catch {
    throw noEmbeddings();
  }
}

/** In the order of the inputs. */
function vectorsOf(answer: Fields, count: number): Float32Array<ArrayBuffer>[] {
  const vectors = new Array<Float32Array<ArrayBuffer> | undefined>(count);
  for (const [place, { index = place, embedding }] of listOf(answer.data).entries()) {
    if (Number.isInteger(index)) vectors[index as number] = vectorOf(embedding);
  }
  const given = vectors.slice(0, count).filter((vector) => vector !== undefined);
  if (given.length !== count) throw noEmbeddings();
  return given;
}

/** Servers that know no base64 send a list. */
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

/** Servers that ignore `dimensions` send more, of which the first are taken. */
function sized(vector: Float32Array<ArrayBuffer>, dimensions = vector.length): Float32Array<ArrayBuffer> {
  if (vector.length < dimensions) {
    throw invalidRequest(`'dimensions' must be at most ${vector.length} for this model.`, 'dimensions');
  }
  return unitVector(vector.slice(0, dimensions));
}

function tokensOf(answer: Fields): number | undefined {
  const { prompt_tokens: tokens } = fieldsOf(answer.usage);
  return Number.isSafeInteger(tokens) && (tokens as number) > 0 ? (tokens as number) : undefined;
}

function estimatedTokens(inputs: EmbedRequest['inputs']): number {
  return inputs.reduce(
    (sum, input) => sum + (typeof input === 'string' ? textTokens(input) : input.length),
    0,
  );
}

function noEmbeddings() {
  return upstreamFault('it answered with something else than the embeddings that were asked for');
}
