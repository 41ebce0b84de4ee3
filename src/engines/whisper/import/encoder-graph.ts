/**
 * The Whisper encoder as an ONNX graph for audio of any length up to 30 s. Its outputs are the keys and values of the
 * cross-attention of the decoder, so that they are computed once per window.
 *
 * Whisper was trained on windows of 30 s, padded with silence. Encoding the padding of every short utterance is most of the
 * work, and omitting it makes the decoder repeat itself. Therefore the silent rest of the window is encoded once, at
 * import, and every layer attends to its cached keys and values (docs/decisions/whisper-short-windows.md).
 */

import { GraphBuilder } from '../../../inference/onnx/graph-builder.ts';
import {
  type LinearArithmetic,
  linearLayer,
  rowwiseLinearLayer,
} from '../../../inference/onnx/linear-layer.ts';
import type { Graph } from '../../../inference/onnx/onnx-proto.ts';
import { type AppendLinear, attention, feedForward, layerNorm, splitChannels } from './transformer-layers.ts';
import { type Convolution, type EncoderLayer, joinLayers, type WhisperWeights } from './weights.ts';

/** Cached keys and values of a window of silence. Every `stride`-th position represents its neighbours. */
export interface SilentRest {
  /** Number of positions (20 ms) per cached position. Divides the number of positions of a window. */
  readonly stride: number;
  /** Keys and values of each encoder layer: [positions / stride, width]. */
  readonly encoder: readonly CachedSilence[];
  /** Keys and values of the cross-attention of each decoder layer, in the same shape. */
  readonly cross: readonly CachedSilence[];
}

export interface CachedSilence {
  readonly keys: Float32Array;
  readonly values: Float32Array;
}

/**
 * Input: `mel` float32 [1, melBands, 2n] with n positions, a multiple of the stride. Outputs: for each decoder layer i
 * `cross_key_i` and `cross_value_i` float32 [1, heads, m, width / heads], and `cross_bias` float32 [1, 1, 1, m], where m is
 * n plus the number of cached positions of the rest.
 */
export function encoderGraph(weights: WhisperWeights, rest: SilentRest, arithmetic: LinearArithmetic): Graph {
  const g = new GraphBuilder('whisper-encoder');
  const linear: AppendLinear = (x, layer) => rowwiseLinearLayer(g, x, layer, arithmetic);
  const stem = encoderStem(g, weights);
  const restFrom = g.op('Div', [positionsOf(g, stem), g.ints(rest.stride)]);
  const bias = restBias(g, stem, restFrom, weights, rest);
  const scores = g.op('Expand', [
    bias,
    g.op('Concat', [g.ints(1, 1), positionsOf(g, stem), g.ints(1)], { axis: 0 }),
  ]);

  let x = stem;
  for (const [i, layer] of weights.encoder.entries()) {
    const cached = rest.encoder[i] as CachedSilence;
    x = encoderLayer(g, x, layer, weights, linear, (key, value) => ({
      key: withRest(g, key, cached.keys, restFrom, weights),
      value: withRest(g, value, cached.values, restFrom, weights),
      bias: scores,
    }));
  }
  const encoded = layerNorm(g, x, weights.encoderNorm);
  const sides = crossSides(g, encoded, weights, linear);
  for (const [i, { keys, values }] of rest.cross.entries()) {
    const key = withRest(g, sides[2 * i] ?? '', keys, restFrom, weights);
    const value = withRest(g, sides[2 * i + 1] ?? '', values, restFrom, weights);
    g.output(`cross_key_${i}`, byHeads(g, key, weights));
    g.output(`cross_value_${i}`, byHeads(g, value, weights));
  }
  g.output('cross_bias', bias);
  return g.build();
}

/**
 * The encoder that computes {@link SilentRest}. Input: `mel` as above, of the whole window. Outputs: `key_i` and
 * `value_i` of each encoder layer and `cross_key_i` and `cross_value_i` of each decoder layer, float32 [1, n, width].
 */
export function restGraph(weights: WhisperWeights, arithmetic: LinearArithmetic = 'float32'): Graph {
  const g = new GraphBuilder('whisper-silent-rest');
  const linear: AppendLinear = (x, layer) => linearLayer(g, x, layer, arithmetic);
  let x = encoderStem(g, weights);
  for (const [i, layer] of weights.encoder.entries()) {
    x = encoderLayer(g, x, layer, weights, linear, (key, value) => {
      g.output(`key_${i}`, key);
      g.output(`value_${i}`, value);
      return { key, value };
    });
  }
  const sides = crossSides(g, layerNorm(g, x, weights.encoderNorm), weights, linear);
  for (const i of weights.decoder.keys()) {
    g.output(`cross_key_${i}`, sides[2 * i] ?? '');
    g.output(`cross_value_${i}`, sides[2 * i + 1] ?? '');
  }
  return g.build();
}

/** Two convolutions, the second with stride 2, and the position embeddings: [1, n, width]. */
function encoderStem(g: GraphBuilder, weights: WhisperWeights): string {
  const mel = g.input('mel', [1, weights.melBands, 'frames']);
  const [first, second] = weights.convolutions;
  const channels = convolution(g, convolution(g, mel, first, 1), second, 2);
  const x = g.op('Transpose', [channels], { perm: [0, 2, 1] });
  const table = g.floats([1, weights.audioPositions, weights.width], weights.audioPositionEmbedding);
  return g.op('Add', [x, g.op('Slice', [table, g.ints(0), positionsOf(g, x), g.ints(1)])]);
}

function convolution(
  g: GraphBuilder,
  x: string,
  { dims, weight, bias }: Convolution,
  stride: number,
): string {
  const input = [x, g.floats(dims, weight), g.floats([dims[0]], bias)];
  return g.op('Gelu', [g.op('Conv', input, { kernel_shape: [dims[2]], pads: [1, 1], strides: [stride] })]);
}

interface Scored {
  readonly key: string;
  readonly value: string;
  readonly bias?: string;
}

function encoderLayer(
  g: GraphBuilder,
  x: string,
  layer: EncoderLayer,
  weights: WhisperWeights,
  linear: AppendLinear,
  scored: (key: string, value: string) => Scored,
): string {
  const { norm, query, key, value, output } = layer.attention;
  const projected = linear(layerNorm(g, x, norm), joinLayers([query, key, value]));
  const [q = '', k = '', v = ''] = splitChannels(g, projected, 3);
  const attended = attention(g, weights.heads, { query: q, ...scored(k, v) });
  const y = g.op('Add', [x, linear(attended.output, output)]);
  return feedForward(g, y, layer.feedForward, linear);
}

/** Keys and values of the decoder layers, alternating: [1, n, width] each. */
function crossSides(
  g: GraphBuilder,
  encoded: string,
  weights: WhisperWeights,
  linear: AppendLinear,
): string[] {
  const layers = weights.decoder.flatMap(({ cross }) => [cross.key, cross.value]);
  return splitChannels(g, linear(encoded, joinLayers(layers)), layers.length);
}

/** Appends the cached positions from `restFrom` to the end of the window to [1, n, width]. */
function withRest(
  g: GraphBuilder,
  x: string,
  cached: Float32Array,
  restFrom: string,
  weights: WhisperWeights,
): string {
  const table = g.floats([1, cached.length / weights.width, weights.width], cached);
  const rest = g.op('Slice', [table, restFrom, g.ints(weights.audioPositions), g.ints(1)]);
  return g.op('Concat', [x, rest], { axis: 1 });
}

/** Attention bias [1, 1, 1, m]: zero for positions of the audio, log(stride) for cached positions, which represent several. */
function restBias(
  g: GraphBuilder,
  stem: string,
  restFrom: string,
  weights: WhisperWeights,
  { stride }: SilentRest,
): string {
  const n = positionsOf(g, stem);
  const cachedCount = g.op('Sub', [g.ints(weights.audioPositions / stride), restFrom]);
  const shape = (length: string) => g.op('Concat', [g.ints(1, 1, 1), length], { axis: 0 });
  const zeros = g.op('Expand', [g.floats([1], [0]), shape(n)]);
  const times = g.op('Expand', [g.floats([1], [Math.log(stride)]), shape(cachedCount)]);
  return g.op('Concat', [zeros, times], { axis: 3 });
}

/** [1, n, width] to [1, heads, n, width / heads]. */
function byHeads(g: GraphBuilder, x: string, { heads, width }: WhisperWeights): string {
  const split = g.op('Reshape', [x, g.ints(0, 0, heads, width / heads)]);
  return g.op('Transpose', [split], { perm: [0, 2, 1, 3] });
}

/** The number of positions n of [1, n, width], as an int64 [1]. */
function positionsOf(g: GraphBuilder, x: string): string {
  return g.op('Shape', [x], { start: 1, end: 2 });
}
