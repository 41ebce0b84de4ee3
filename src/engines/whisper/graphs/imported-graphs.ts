/** The graphs of the import step (import/import.ts) on the ONNX runtime. */

import type { Float32Samples } from '../../../contract/engines/audio.ts';
import {
  type GraphInput,
  type GraphOutput,
  type GraphSession,
  openGraph,
} from '../../../inference/runtime/runtime.ts';
import type { RuntimeOptions } from '../../../inference/runtime/runtime-options.ts';
import type { ImportedWhisper } from '../import/import.ts';
import {
  type DecoderCache,
  type DecoderStep,
  type EncodedWindow,
  emptyPast,
  type WhisperGraphs,
  type WhisperShape,
} from '../shared/graphs.ts';
import type { Attention } from '../shared/token-alignment.ts';

/** Loads the encoder and the decoder. The aligner is loaded when word timestamps are first requested. */
export async function openImportedGraphs(
  imported: ImportedWhisper,
  runtime: RuntimeOptions,
): Promise<WhisperGraphs> {
  const encoder = await openGraph(imported.encoder, runtime);
  try {
    const decoder = await openGraph(imported.decoder, runtime, { spinning: true });
    return new ImportedGraphs(imported.shape, encoder, decoder, () => openGraph(imported.aligner, runtime));
  } catch (error) {
    await encoder.close();
    throw error;
  }
}

class ImportedGraphs implements WhisperGraphs {
  readonly shortWindows = true;
  readonly shape: WhisperShape;
  readonly #encoder: GraphSession;
  readonly #decoder: GraphSession;
  readonly #openAligner: () => Promise<GraphSession>;
  #aligner: GraphSession | undefined;
  readonly #crossNames: readonly string[];
  readonly #stepNames: readonly string[];
  readonly #emptyPast: Readonly<Record<string, GraphInput>>;

  constructor(
    shape: WhisperShape,
    encoder: GraphSession,
    decoder: GraphSession,
    openAligner: () => Promise<GraphSession>,
  ) {
    this.shape = shape;
    this.#encoder = encoder;
    this.#decoder = decoder;
    this.#openAligner = openAligner;
    const sides = (prefix: string) =>
      Array.from({ length: shape.decoderLayers }, (_, i) => [
        `${prefix}key_${i}`,
        `${prefix}value_${i}`,
      ]).flat();
    this.#crossNames = ['cross_bias', ...sides('cross_')];
    this.#stepNames = ['logits', ...sides('')];
    this.#emptyPast = emptyPast(shape, sides('past_'));
  }

  async encode(mel: Float32Samples, frames: number): Promise<EncodedWindow> {
    const dims = [1, this.shape.melBands, frames];
    const tensors = await this.#encoder.run({ mel: { type: 'float32', dims, data: mel } }, this.#crossNames);
    return { tensors };
  }

  async step(window: EncodedWindow, tokens: readonly number[], cache?: DecoderCache): Promise<DecoderStep> {
    const past = cache ? floatInputs(cache.tensors) : this.#emptyPast;
    const inputs = { tokens: tokenInput(tokens), ...past, ...floatInputs(window.tensors) };
    const { logits, ...present } = await this.#decoder.run(inputs, this.#stepNames);
    const tensors = Object.fromEntries(
      Object.entries(present).map(([name, value]) => [`past_${name}`, value]),
    );
    return { logits: (logits as GraphOutput).data, cache: { tensors } };
  }

  async align(window: EncodedWindow, tokens: readonly number[]): Promise<Attention> {
    this.#aligner ??= await this.#openAligner();
    const inputs = { tokens: tokenInput(tokens), ...floatInputs(window.tensors) };
    const { attention } = await this.#aligner.run(inputs, ['attention']);
    const [heads = 0, rows = 0, frames = 0] = attention.dims;
    return { data: attention.data, heads, rows, frames };
  }

  async close(): Promise<void> {
    await this.#encoder.close();
    await this.#decoder.close();
    await this.#aligner?.close();
  }
}

function tokenInput(tokens: readonly number[]): GraphInput {
  return { type: 'int64', dims: [1, tokens.length], data: BigInt64Array.from(tokens, BigInt) };
}

function floatInputs(tensors: Readonly<Record<string, GraphOutput>>): Record<string, GraphInput> {
  return Object.fromEntries(
    Object.entries(tensors).map(([name, { dims, data }]) => [name, { type: 'float32', dims, data }]),
  );
}
