/**
 * Graphs exported by Hugging Face Optimum (`optimum-cli export onnx --task automatic-speech-recognition-with-past`), used
 * without conversion: an encoder of full windows, and a decoder either as two graphs, without and with a past, or as one
 * merged graph with a switch. Names and shapes are those of
 * optimum-onnx, `exporters/onnx/model_configs.py`, `onnx/graph_transformations.py` (merge_decoders) and
 * `onnxruntime/modeling_seq2seq.py`.
 */

import type { Float32Samples } from '../../../contract/engines/audio.ts';
import {
  type GraphInput,
  type GraphOutput,
  type GraphSession,
  openGraph,
} from '../../../inference/runtime/runtime.ts';
import type { RuntimeOptions } from '../../../inference/runtime/runtime-options.ts';
import type { OptimumFiles } from '../import/optimum-files.ts';
import {
  type DecoderCache,
  type DecoderStep,
  type EncodedWindow,
  emptyPast,
  type WhisperGraphs,
  type WhisperShape,
} from '../shared/graphs.ts';

/**
 * Loads the graphs of a folder.
 * @throws Error of the runtime when a file is not a graph.
 */
export async function openOptimumGraphs(
  { encoder, decoder, shape }: OptimumFiles,
  runtime: RuntimeOptions,
): Promise<WhisperGraphs> {
  const sessions: GraphSession[] = [];
  try {
    const paths = 'merged' in decoder ? [decoder.merged] : [decoder.first, decoder.withPast];
    sessions.push(await openGraph(encoder, runtime));
    for (const path of paths) sessions.push(await openGraph(path, runtime, { spinning: true }));
  } catch (error) {
    for (const session of sessions) await session.close();
    throw error;
  }
  const [encoding, first, withPast = first] = sessions as [GraphSession, GraphSession, GraphSession?];
  return new OptimumGraphs(shape, encoding, first, withPast);
}

class OptimumGraphs implements WhisperGraphs {
  readonly shortWindows = false;
  readonly shape: WhisperShape;
  readonly #encoder: GraphSession;
  readonly #first: GraphSession;
  /** The same session as {@link #first} for a merged decoder. */
  readonly #withPast: GraphSession;
  readonly #ownNames: readonly string[];
  readonly #crossNames: readonly string[];
  readonly #emptyPast: Readonly<Record<string, GraphInput>>;

  constructor(shape: WhisperShape, encoder: GraphSession, first: GraphSession, withPast: GraphSession) {
    this.shape = shape;
    this.#encoder = encoder;
    this.#first = first;
    this.#withPast = withPast;
    const sides = (of: string) =>
      Array.from({ length: shape.decoderLayers }, (_, i) => [
        `present.${i}.${of}.key`,
        `present.${i}.${of}.value`,
      ]).flat();
    this.#ownNames = sides('decoder');
    this.#crossNames = sides('encoder');
    this.#emptyPast = emptyPast(shape, [...this.#ownNames, ...this.#crossNames].map(pastName));
  }

  async encode(mel: Float32Samples, frames: number): Promise<EncodedWindow> {
    const dims = [1, this.shape.melBands, frames];
    const { last_hidden_state } = await this.#encoder.run(
      { input_features: { type: 'float32', dims, data: mel } },
      ['last_hidden_state'],
    );
    return { tensors: { encoder_hidden_states: last_hidden_state } };
  }

  async step(window: EncodedWindow, tokens: readonly number[], cache?: DecoderCache): Promise<DecoderStep> {
    if (cache === undefined) return this.#start(window, tokens);
    let step: DecoderStep | undefined;
    // One token at a time: graphs traced with one token have no causal mask, so tokens would attend to later ones.
    for (const token of tokens) step = await this.#next(window, token, step?.cache ?? cache);
    if (step === undefined) throw new RangeError('A step requires at least one token.');
    return step;
  }

  /** These graphs do not output their attention. */
  async align(): Promise<undefined> {
    return undefined;
  }

  async close(): Promise<void> {
    await this.#encoder.close();
    await this.#first.close();
    await this.#withPast.close();
  }

  async #start(window: EncodedWindow, tokens: readonly number[]): Promise<DecoderStep> {
    const inputs = {
      input_ids: int64([1, tokens.length], tokens),
      ...window.tensors,
      ...this.#emptyPast,
      use_cache_branch: flag(false),
      cache_position: int64([tokens.length], [...tokens.keys()]),
    };
    const names = ['logits', ...this.#ownNames, ...this.#crossNames];
    return asStep(await this.#first.run(supportedInputs(this.#first, inputs), names), {});
  }

  async #next(window: EncodedWindow, token: number, { tensors }: DecoderCache): Promise<DecoderStep> {
    const past = tensors[pastName('present.0.decoder.key')]?.dims[2] ?? 0;
    const inputs = {
      input_ids: int64([1, 1], [token]),
      ...window.tensors,
      ...tensors,
      use_cache_branch: flag(true),
      cache_position: int64([1], [past]),
    };
    // Keys and values of the audio are reused: the merged graph outputs empty ones here, the other graph none.
    const names = ['logits', ...this.#ownNames];
    return asStep(await this.#withPast.run(supportedInputs(this.#withPast, inputs), names), tensors);
  }
}

/** Selects the inputs that the graph has, which depend on the version of the exporter. */
function supportedInputs(
  graph: GraphSession,
  inputs: Readonly<Record<string, GraphInput>>,
): Record<string, GraphInput> {
  return Object.fromEntries(Object.entries(inputs).filter(([name]) => graph.inputs.has(name)));
}

/** @param before tensors of the previous cache. */
function asStep(
  { logits, ...present }: Readonly<Record<string, GraphOutput>>,
  before: DecoderCache['tensors'],
): DecoderStep {
  const now = Object.entries(present).map(([name, value]) => [pastName(name), value]);
  return {
    logits: lastRow(logits as GraphOutput),
    cache: { tensors: { ...before, ...Object.fromEntries(now) } },
  };
}

/** Name of the input of the next step for an output of this one. */
function pastName(present: string): string {
  return present.replace('present', 'past_key_values');
}

/** The last row of [1, n, vocabulary]. */
function lastRow({ dims, data }: GraphOutput): Float32Samples {
  return data.subarray(data.length - (dims[2] ?? 0));
}

function int64(dims: readonly number[], values: readonly number[]): GraphInput {
  return { type: 'int64', dims, data: BigInt64Array.from(values, BigInt) };
}

function flag(value: boolean): GraphInput {
  return { type: 'bool', dims: [1], data: Uint8Array.of(Number(value)) };
}
