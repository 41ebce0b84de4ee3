/** Building blocks of the encoder and decoder graphs: the pre-norm transformer layers of Whisper. */

import type { GraphBuilder } from '../../../inference/onnx/graph-builder.ts';
import type { LinearLayer } from '../../../inference/onnx/linear-layer.ts';
import type { FeedForwardWeights, Norm } from './weights.ts';

const NORM_EPSILON = 1e-5;

/** Appends a layer norm over the channels of [1, n, width]. */
export function layerNorm(g: GraphBuilder, x: string, { gamma, beta }: Norm): string {
  const size = gamma.length;
  const input = [x, g.floats([size], gamma), g.floats([size], beta)];
  return g.op('LayerNormalization', input, { axis: -1, epsilon: { f: NORM_EPSILON } });
}

/** Appends a linear layer in the arithmetic of the graph. */
export type AppendLinear = (x: string, layer: LinearLayer) => string;

/** Appends `x + feedForward(norm(x))`. */
export function feedForward(
  g: GraphBuilder,
  x: string,
  { norm, up, down }: FeedForwardWeights,
  linear: AppendLinear,
): string {
  const inner = g.op('Gelu', [linear(layerNorm(g, x, norm), up)]);
  return g.op('Add', [x, linear(inner, down)]);
}

/** Splits [1, n, count x width] into `count` tensors [1, n, width]. */
export function splitChannels(g: GraphBuilder, x: string, count: number): string[] {
  return g.ops('Split', [x], count, { axis: 2, num_outputs: count });
}

export interface AttentionInputs {
  /** [1, n, width] */
  readonly query: string;
  /** [1, m, width], or [1, heads, m, width / heads]. */
  readonly key: string;
  readonly value: string;
  /** Added to the scores before the softmax; broadcast to [1, heads, n, m]. */
  readonly bias?: string | undefined;
  /** Keys and values of earlier positions, [1, heads, past, width / heads]. Enables a causal mask. */
  readonly past?: { readonly key: string; readonly value: string } | undefined;
}

/**
 * Appends softmax(Q Kᵀ / √d) V for every head, in float32.
 * @returns [1, n, width], and with a past the keys and values of all positions so far.
 */
export function attention(
  g: GraphBuilder,
  heads: number,
  { query, key, value, bias = '', past }: AttentionInputs,
): { readonly output: string; readonly key: string; readonly value: string } {
  const input = [query, key, value, '', '', bias];
  if (past) input.push(past.key, past.value);
  const [output = '', presentKey = '', presentValue = ''] = g.ops(
    'MultiHeadAttention',
    past || bias ? input : input.slice(0, 3),
    past ? 3 : 1,
    { num_heads: heads, ...(past ? { unidirectional: 1 } : {}) },
    'com.microsoft',
  );
  return { output, key: presentKey, value: presentValue };
}
