/** The Whisper decoder as an ONNX graph with cached keys and values of the tokens so far. */

import { GraphBuilder } from '../../../inference/onnx/graph-builder.ts';
import { type LinearArithmetic, linearLayer } from '../../../inference/onnx/linear-layer.ts';
import { DataType, type Graph } from '../../../inference/onnx/onnx-proto.ts';
import { type AppendLinear, attention, feedForward, layerNorm, splitChannels } from './transformer-layers.ts';
import { joinLayers, type WhisperWeights } from './weights.ts';

/**
 * Inputs: `tokens` int64 [1, n]; for each layer i `past_key_i` and `past_value_i` float32
 * [1, heads, past, width / heads], and `cross_key_i`, `cross_value_i` and `cross_bias` of the encoder. With a non-empty
 * past, n is 1. Outputs: `logits` float32 [1, vocabulary] of the last token, and `key_i` and `value_i` of all tokens so
 * far.
 */
export function decoderGraph(weights: WhisperWeights, arithmetic: LinearArithmetic): Graph {
  const g = new GraphBuilder('whisper-decoder');
  const { width, heads, vocabulary } = weights;
  const linear: AppendLinear = (x, layer) => linearLayer(g, x, layer, arithmetic);
  const cache = (name: string, length: string) => g.input(name, [1, heads, length, width / heads]);
  const tokens = g.input('tokens', [1, 'n'], DataType.INT64);
  const bias = g.input('cross_bias', [1, 1, 1, 'positions']);
  const scores = g.op('Expand', [
    bias,
    g.op('Concat', [g.ints(1, 1), g.op('Shape', [tokens], { start: 1 }), g.ints(1)], { axis: 0 }),
  ]);
  // Positions continue after those of the past.
  const from = g.op('Shape', ['past_key_0'], { start: 2, end: 3 });
  let x = tokenEmbeddings(g, tokens, from, weights);
  for (const [i, layer] of weights.decoder.entries()) {
    const { norm, query, key, value, output } = layer.attention;
    const projected = linear(layerNorm(g, x, norm), joinLayers([query, key, value]));
    const [q = '', k = '', v = ''] = splitChannels(g, projected, 3);
    const past = { key: cache(`past_key_${i}`, 'past'), value: cache(`past_value_${i}`, 'past') };
    const own = attention(g, heads, { query: q, key: k, value: v, past });
    g.output(`key_${i}`, own.key);
    g.output(`value_${i}`, own.value);
    x = g.op('Add', [x, linear(own.output, output)]);

    const { cross } = layer;
    const attended = attention(g, heads, {
      query: linear(layerNorm(g, x, cross.norm), cross.query),
      key: cache(`cross_key_${i}`, 'positions'),
      value: cache(`cross_value_${i}`, 'positions'),
      bias: scores,
    });
    x = g.op('Add', [x, linear(attended.output, cross.output)]);
    x = feedForward(g, x, layer.feedForward, linear);
  }
  const last = g.op('Squeeze', [g.op('Slice', [x, g.ints(-1), g.ints(2 ** 31 - 1), g.ints(1)]), g.ints(1)]);
  const projection = { outputs: vocabulary, inputs: width, weight: weights.tokenEmbedding };
  g.output('logits', linear(layerNorm(g, last, weights.decoderNorm), projection));
  return g.build();
}

/**
 * Appends the sum of the embeddings of the tokens and of their positions.
 * @param from position of the first token, int64 [1].
 * @returns float32 [1, n, width]
 */
export function tokenEmbeddings(
  g: GraphBuilder,
  tokens: string,
  from: string,
  weights: WhisperWeights,
): string {
  const { vocabulary, width, textPositions } = weights;
  // float16 halves the memory, and only a few rows are converted at a time.
  const words = g.op('Gather', [g.float16s([vocabulary, width], weights.tokenEmbedding), tokens]);
  const to = g.op('Add', [from, g.op('Shape', [tokens], { start: 1 })]);
  const table = g.floats([1, textPositions, width], weights.textPositionEmbedding);
  const positions = g.op('Slice', [table, from, to, g.ints(1)]);
  return g.op('Add', [g.op('Cast', [words], { to: DataType.FLOAT }), positions]);
}
