/**
 * A Whisper model as Hugging Face Optimum exports it, written from the weights of the shipped tiny.en: names,
 * shapes and files of optimum-onnx, the architecture of transformers' `modeling_whisper.py` in plain operators.
 */

import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { loadConfig } from '../../server/config.ts';
import { Ct2Checkpoint } from '../../src/engines/whisper/import/ct2-checkpoint.ts';
import {
  type AttentionWeights,
  type Norm,
  type WhisperWeights,
  whisperWeights,
} from '../../src/engines/whisper/import/weights.ts';
import { GraphBuilder } from '../../src/inference/onnx/graph-builder.ts';
import type { LinearLayer } from '../../src/inference/onnx/linear-layer.ts';
import { AttributeType, DataType, encodeModel, type Graph } from '../../src/inference/onnx/onnx-proto.ts';
import { resolveModelFiles } from '../../src/models/model-files.ts';

/** `merged`: one decoder with a switch. `split`: two decoders, like transformers 4.43 to 4.45. */
export type OptimumForm = 'merged' | 'split';

/**
 * Writes the folder of the model.
 * @param size `small`: one layer of each kind and {@link SMALL_VOCABULARY} tokens; its output is meaningless.
 */
export async function writeOptimumExport(
  folder: string,
  form: OptimumForm,
  size: 'whole' | 'small' = 'whole',
): Promise<void> {
  const files = resolveModelFiles(loadConfig(process.env).modelsDir, 'whisper-tiny-en-ct2');
  const all = whisperWeights(new Ct2Checkpoint(await Bun.file(files['model.bin'] ?? '').bytes()));
  const weights = size === 'whole' ? all : cut(all);
  const write = (name: string, graph: Graph) => Bun.write(join(folder, name), onnx(graph));
  await write('encoder_model.onnx', encoderGraph(weights));
  if (form === 'merged') {
    await write('decoder_model_merged.onnx', mergedDecoder(weights));
  } else {
    await write('decoder_model.onnx', decoderWithoutPast(weights));
    await write('decoder_with_past_model.onnx', decoderWithPast(weights));
  }
  await cp(files['tokenizer.json'] ?? '', join(folder, 'tokenizer.json'));
  await Bun.write(join(folder, 'config.json'), JSON.stringify(configOf(weights)));
}

export const SMALL_VOCABULARY = 500;

function cut(weights: WhisperWeights): WhisperWeights {
  const { encoder, decoder, tokenEmbedding, width } = weights;
  return {
    ...weights,
    encoder: encoder.slice(0, 1),
    decoder: decoder.slice(0, 1),
    vocabulary: SMALL_VOCABULARY,
    tokenEmbedding: tokenEmbedding.slice(0, SMALL_VOCABULARY * width),
  };
}

function configOf({ width, heads, decoder, melBands, textPositions, vocabulary }: WhisperWeights) {
  return {
    model_type: 'whisper',
    num_mel_bins: melBands,
    decoder_layers: decoder.length,
    decoder_attention_heads: heads,
    d_model: width,
    max_target_positions: textPositions,
    vocab_size: vocabulary,
  };
}

function onnx(graph: Graph): Uint8Array {
  return encodeModel({ irVersion: 9, producerName: 'test', opsetImport: [{ version: 20 }], graph });
}

function encoderGraph(weights: WhisperWeights): Graph {
  const g = new GraphBuilder('encoder');
  const { heads, width, audioPositions } = weights;
  let x = g.input('input_features', ['batch_size', weights.melBands, 2 * audioPositions]);
  for (const [i, { dims, weight, bias }] of weights.convolutions.entries()) {
    const input = [x, g.floats(dims, weight), g.floats([dims[0]], bias)];
    x = g.op('Gelu', [g.op('Conv', input, { kernel_shape: [dims[2]], pads: [1, 1], strides: [i + 1] })]);
  }
  x = g.op('Add', [
    g.op('Transpose', [x], { perm: [0, 2, 1] }),
    g.floats([1, audioPositions, width], weights.audioPositionEmbedding),
  ]);
  for (const layer of weights.encoder) {
    const normed = norm(g, x, layer.attention.norm);
    const own = sides(g, normed, layer.attention, heads);
    x = g.op('Add', [x, attended(g, normed, own, layer.attention, heads)]);
    x = fedForward(g, x, layer.feedForward);
  }
  g.output('last_hidden_state', norm(g, x, weights.encoderNorm));
  return g.build();
}

interface KeyAndValue {
  readonly key: string;
  readonly value: string;
}

function decoderWithoutPast(weights: WhisperWeights): Graph {
  const g = new GraphBuilder('decoder');
  declareTokens(g);
  declareAudio(g, weights);
  startBranch(g, weights);
  return g.build();
}

function decoderWithPast(weights: WhisperWeights): Graph {
  const g = new GraphBuilder('decoder-with-past');
  declareTokens(g);
  declarePast(g, weights);
  const at = g.input('cache_position', ['decoder_sequence_length'], DataType.INT64);
  pastBranch(g, weights, at);
  return g.build();
}

/** Both decoders in an `If`, with empty outputs where the decoder with past has none. */
function mergedDecoder(weights: WhisperWeights): Graph {
  const g = new GraphBuilder('merged');
  declareTokens(g);
  declareAudio(g, weights);
  declarePast(g, weights);
  g.input('use_cache_branch', [1], DataType.BOOL);
  const start = new GraphBuilder('no_past', 'no_past/');
  startBranch(start, weights);
  const past = new GraphBuilder('with_past', 'with_past/');
  const before = past.op('Shape', ['past_key_values.0.decoder.key'], { start: 2, end: 3 });
  pastBranch(past, weights, before);
  const empty = past.floats([0, weights.heads, 1, weights.width / weights.heads], []);
  for (const name of cacheNames('present', 'encoder', weights)) past.output(name, empty);
  const outputs = start.build().output;
  // The outputs of both branches correspond by position.
  const inOrder = outputs.map(
    ({ name }) => past.build().output.find((each) => each.name === name) ?? { name },
  );
  const merged = g.build();
  merged.node.push({
    name: 'optimum::if',
    opType: 'If',
    input: ['use_cache_branch'],
    output: outputs.map(({ name }) => name),
    attribute: [
      { name: 'then_branch', type: AttributeType.GRAPH, g: { ...past.build(), output: inOrder } },
      { name: 'else_branch', type: AttributeType.GRAPH, g: start.build() },
    ],
  });
  merged.output.push(...outputs);
  return merged;
}

function declareTokens(g: GraphBuilder): void {
  g.input('input_ids', ['batch_size', 'decoder_sequence_length'], DataType.INT64);
}

function declareAudio(g: GraphBuilder, { width }: WhisperWeights): void {
  g.input('encoder_hidden_states', ['batch_size', 'encoder_sequence_length', width]);
}

function declarePast(g: GraphBuilder, weights: WhisperWeights): void {
  const { heads, width } = weights;
  for (const side of ['decoder', 'encoder'] as const) {
    for (const name of cacheNames('past_key_values', side, weights)) {
      g.input(name, ['batch_size', heads, `${side}_sequence_length_before`, width / heads]);
    }
  }
}

function cacheNames(prefix: string, side: 'decoder' | 'encoder', { decoder }: WhisperWeights): string[] {
  return [...decoder.keys()].flatMap((i) => [`${prefix}.${i}.${side}.key`, `${prefix}.${i}.${side}.value`]);
}

/** All tokens from the first position, with a causal mask. */
function startBranch(g: GraphBuilder, weights: WhisperWeights): void {
  const n = g.op('Shape', ['input_ids'], { start: 1, end: 2 });
  const ones = g.op('Expand', [g.floats([], [1]), g.op('Concat', [n, n], { axis: 0 })]);
  const later = g.op('Trilu', [ones, g.constant((name) => scalar(name, 1))], { upper: 1 });
  const mask = g.op('Mul', [later, g.floats([], [-1e9])]);
  const positions = g.op('Slice', [positionTable(g, weights), g.ints(0), n, g.ints(0)]);
  decoderLayers(g, weights, positions, (i, x, layer) => ({
    own: sides(g, x, layer.attention, weights.heads),
    mask,
    cross: () => {
      const cross = sides(g, 'encoder_hidden_states', layer.cross, weights.heads);
      g.output(`present.${i}.encoder.key`, cross.key);
      g.output(`present.${i}.encoder.value`, cross.value);
      return cross;
    },
  }));
}

/** One token after others, without a mask. @param at its position, int64 [1]. */
function pastBranch(g: GraphBuilder, weights: WhisperWeights, at: string): void {
  const positions = g.op('Gather', [positionTable(g, weights), at], { axis: 0 });
  decoderLayers(g, weights, positions, (i, x, layer) => {
    const past = (side: string): KeyAndValue => ({
      key: `past_key_values.${i}.${side}.key`,
      value: `past_key_values.${i}.${side}.value`,
    });
    const now = sides(g, x, layer.attention, weights.heads);
    const before = past('decoder');
    const own = {
      key: g.op('Concat', [before.key, now.key], { axis: 2 }),
      value: g.op('Concat', [before.value, now.value], { axis: 2 }),
    };
    return { own, cross: () => past('encoder') };
  });
}

interface Seen {
  readonly own: KeyAndValue;
  readonly mask?: string;
  cross(): KeyAndValue;
}

function decoderLayers(
  g: GraphBuilder,
  weights: WhisperWeights,
  positions: string,
  seen: (i: number, x: string, layer: WhisperWeights['decoder'][number]) => Seen,
): void {
  const { heads, vocabulary, width } = weights;
  const table = g.floats([vocabulary, width], weights.tokenEmbedding);
  let x = g.op('Add', [g.op('Gather', [table, 'input_ids']), positions]);
  for (const [i, layer] of weights.decoder.entries()) {
    const normed = norm(g, x, layer.attention.norm);
    const { own, mask, cross } = seen(i, normed, layer);
    g.output(`present.${i}.decoder.key`, own.key);
    g.output(`present.${i}.decoder.value`, own.value);
    x = g.op('Add', [x, attended(g, normed, own, layer.attention, heads, mask)]);
    x = g.op('Add', [x, attended(g, norm(g, x, layer.cross.norm), cross(), layer.cross, heads)]);
    x = fedForward(g, x, layer.feedForward);
  }
  const projection = g.op('Transpose', [table], { perm: [1, 0] });
  g.output('logits', g.op('MatMul', [norm(g, x, weights.decoderNorm), projection]));
}

function positionTable(
  g: GraphBuilder,
  { textPositions, width, textPositionEmbedding }: WhisperWeights,
): string {
  return g.floats([textPositions, width], textPositionEmbedding);
}

function scalar(name: string, value: number) {
  return { name, dims: [], dataType: DataType.INT64, int64Data: [value] };
}

function norm(g: GraphBuilder, x: string, { gamma, beta }: Norm): string {
  const input = [x, g.floats([gamma.length], gamma), g.floats([beta.length], beta)];
  return g.op('LayerNormalization', input, { axis: -1, epsilon: { f: 1e-5 } });
}

function linear(g: GraphBuilder, x: string, { outputs, inputs, weight, bias }: LinearLayer): string {
  const turned = g.op('Transpose', [g.floats([outputs, inputs], weight)], { perm: [1, 0] });
  const product = g.op('MatMul', [x, turned]);
  return bias ? g.op('Add', [product, g.floats([outputs], bias)]) : product;
}

function fedForward(
  g: GraphBuilder,
  x: string,
  { norm: before, up, down }: WhisperWeights['encoder'][number]['feedForward'],
): string {
  return g.op('Add', [x, linear(g, g.op('Gelu', [linear(g, norm(g, x, before), up)]), down)]);
}

/** Projects [1, n, width] to keys and values [1, heads, n, width / heads]. */
function sides(g: GraphBuilder, x: string, { key, value }: AttentionWeights, heads: number): KeyAndValue {
  return { key: byHeads(g, linear(g, x, key), heads), value: byHeads(g, linear(g, x, value), heads) };
}

function byHeads(g: GraphBuilder, x: string, heads: number): string {
  return g.op('Transpose', [g.op('Reshape', [x, g.ints(0, 0, heads, -1)])], { perm: [0, 2, 1, 3] });
}

function attended(
  g: GraphBuilder,
  x: string,
  { key, value }: KeyAndValue,
  { query, output }: AttentionWeights,
  heads: number,
  mask?: string,
): string {
  const scale = g.floats([], [1 / Math.sqrt(query.outputs / heads)]);
  const scaledQuery = g.op('Mul', [byHeads(g, linear(g, x, query), heads), scale]);
  const scores = g.op('MatMul', [scaledQuery, g.op('Transpose', [key], { perm: [0, 1, 3, 2] })]);
  const weights = g.op('Softmax', [mask ? g.op('Add', [scores, mask]) : scores], { axis: -1 });
  const mixed = g.op('Transpose', [g.op('MatMul', [weights, value])], { perm: [0, 2, 1, 3] });
  return linear(g, g.op('Reshape', [mixed, g.ints(0, 0, -1)]), output);
}
