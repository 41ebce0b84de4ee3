/** The cross-attention of the decoder as a separate graph, which runs once over a complete text to compute word times. */

import { GraphBuilder } from '../../../inference/onnx/graph-builder.ts';
import { type LinearArithmetic, rowwiseLinearLayer } from '../../../inference/onnx/linear-layer.ts';
import { DataType, type Graph } from '../../../inference/onnx/onnx-proto.ts';
import { tokenEmbeddings } from './decoder-graph.ts';
import { type AppendLinear, attention, feedForward, layerNorm, splitChannels } from './transformer-layers.ts';
import { joinLayers, type WhisperWeights } from './weights.ts';

/**
 * Inputs: `tokens` int64 [1, n], the whole text with its prompt, and the outputs of the encoder as in the decoder.
 * Output: `attention` float32 [heads, n, positions], the probabilities of `alignmentHeads` in order.
 * @throws Error when the model lacks one of the heads.
 */
export function alignerGraph(
  weights: WhisperWeights,
  alignmentHeads: readonly (readonly [layer: number, head: number])[],
  arithmetic: LinearArithmetic,
): Graph {
  const unknown = alignmentHeads.find(([layer, head]) => !(weights.decoder[layer] && head < weights.heads));
  if (unknown) {
    throw new Error(
      `config.json of the model lists head ${unknown.join('/')} in alignment_heads, which does not exist.`,
    );
  }
  const g = new GraphBuilder('whisper-aligner');
  const { width, heads } = weights;
  const linear: AppendLinear = (x, layer) => rowwiseLinearLayer(g, x, layer, arithmetic);
  const tokens = g.input('tokens', [1, 'n'], DataType.INT64);
  const bias = g.input('cross_bias', [1, 1, 1, 'positions']);
  const n = g.op('Shape', [tokens], { start: 1 });
  const scores = g.op('Expand', [bias, g.op('Concat', [g.ints(1, 1), n, g.ints(1)], { axis: 0 })]);
  const emptyPast = g.floats([1, heads, 0, width / heads], []);
  const attentions: string[] = [];
  let x = tokenEmbeddings(g, tokens, g.ints(0), weights);
  const last = Math.max(...alignmentHeads.map(([layer]) => layer));
  for (const [i, layer] of weights.decoder.entries()) {
    // Inputs of later layers are declared as well, so that all outputs of the encoder are valid inputs.
    const key = g.input(`cross_key_${i}`, [1, heads, 'positions', width / heads]);
    const value = g.input(`cross_value_${i}`, [1, heads, 'positions', width / heads]);
    if (i > last) continue;
    const { norm, query, key: ownKey, value: ownValue, output } = layer.attention;
    const projected = linear(layerNorm(g, x, norm), joinLayers([query, ownKey, ownValue]));
    const [q = '', k = '', v = ''] = splitChannels(g, projected, 3);
    const own = attention(g, heads, {
      query: q,
      key: k,
      value: v,
      past: { key: emptyPast, value: emptyPast },
    });
    x = g.op('Add', [x, linear(own.output, output)]);

    const crossQuery = linear(layerNorm(g, x, layer.cross.norm), layer.cross.query);
    for (const [index, [layerIndex, head]] of alignmentHeads.entries()) {
      if (layerIndex !== i) continue;
      attentions[index] = probabilities(g, crossQuery, key, bias, head, width / heads);
    }
    const cross = attention(g, heads, { query: crossQuery, key, value, bias: scores });
    x = g.op('Add', [x, linear(cross.output, layer.cross.output)]);
    x = feedForward(g, x, layer.feedForward, linear);
  }
  g.output('attention', g.op('Concat', attentions, { axis: 0 }));
  return g.build();
}

/** softmax(q kᵀ / √d + bias) of one head: [1, n, positions]. */
function probabilities(
  g: GraphBuilder,
  queries: string,
  keys: string,
  bias: string,
  head: number,
  size: number,
): string {
  const q = g.op('Slice', [queries, g.ints(head * size), g.ints((head + 1) * size), g.ints(2)]);
  const k = g.op('Squeeze', [g.op('Slice', [keys, g.ints(head), g.ints(head + 1), g.ints(1)]), g.ints(1)]);
  const product = g.op('MatMul', [q, g.op('Transpose', [k], { perm: [0, 2, 1] })]);
  const scaled = g.op('Mul', [product, g.floats([], [1 / Math.sqrt(size)])]);
  return g.op('Softmax', [g.op('Add', [scaled, g.op('Squeeze', [bias, g.ints(1)])])], { axis: -1 });
}
