/** Where the decoder looks while it writes: a graph of its own, run once over a finished text for word times. */

import { GraphBuilder } from '../../onnx/graph-builder.ts';
import { type LinearArithmetic, rowwiseLinearLayer } from '../../onnx/linear-layer.ts';
import { DataType, type Graph } from '../../onnx/onnx-proto.ts';
import { tokenEmbeddings } from './decoder-graph.ts';
import { type AppendLinear, attention, feedForward, layerNorm, splitChannels } from './transformer-parts.ts';
import { joined, type WhisperWeights } from './weights.ts';

/**
 * Inputs: `tokens` int64 [1, n], the whole text with its prompt, and the encoder's outputs as in the decoder.
 * Output: `attention` float32 [heads, n, positions], the probabilities of the given heads in their order.
 */
export function alignerGraph(
  weights: WhisperWeights,
  alignmentHeads: readonly (readonly [layer: number, head: number])[],
  arithmetic: LinearArithmetic,
): Graph {
  const unknown = alignmentHeads.find(([layer, head]) => !(weights.decoder[layer] && head < weights.heads));
  if (unknown) {
    throw new Error(
      `The model's config.json names head ${unknown.join('/')} in alignment_heads; it has no such head.`,
    );
  }
  const g = new GraphBuilder('whisper-aligner');
  const { width, heads } = weights;
  const linear: AppendLinear = (x, layer) => rowwiseLinearLayer(g, x, layer, arithmetic);
  const tokens = g.input('tokens', [1, 'n'], DataType.INT64);
  const bias = g.input('cross_bias', [1, 1, 1, 'positions']);
  const n = g.op('Shape', [tokens], { start: 1 });
  const scores = g.op('Expand', [bias, g.op('Concat', [g.ints(1, 1), n, g.ints(1)], { axis: 0 })]);
  const nothing = g.floats([1, heads, 0, width / heads], []);
  const seenBy: string[] = [];
  let x = tokenEmbeddings(g, tokens, g.ints(0), weights);
  const last = Math.max(...alignmentHeads.map(([layer]) => layer));
  for (const [i, layer] of weights.decoder.entries()) {
    // The decoder's other inputs are declared, so that it can be fed what the encoder gives.
    const key = g.input(`cross_key_${i}`, [1, heads, 'positions', width / heads]);
    const value = g.input(`cross_value_${i}`, [1, heads, 'positions', width / heads]);
    if (i > last) continue;
    const { norm, query, key: ownKey, value: ownValue, output } = layer.attention;
    const projected = linear(layerNorm(g, x, norm), joined([query, ownKey, ownValue]));
    const [q = '', k = '', v = ''] = splitChannels(g, projected, 3);
    const own = attention(g, heads, { query: q, key: k, value: v, past: { key: nothing, value: nothing } });
    x = g.op('Add', [x, linear(own.output, output)]);

    const asked = linear(layerNorm(g, x, layer.cross.norm), layer.cross.query);
    for (const [at, [of, head]] of alignmentHeads.entries()) {
      if (of === i) seenBy[at] = probabilities(g, asked, key, bias, head, width / heads);
    }
    const seen = attention(g, heads, { query: asked, key, value, bias: scores });
    x = g.op('Add', [x, linear(seen.output, layer.cross.output)]);
    x = feedForward(g, x, layer.feedForward, linear);
  }
  g.output('attention', g.op('Concat', seenBy, { axis: 0 }));
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
