/** Linear layers `x · Wᵀ + b` in the arithmetic of the execution provider. */

import type { Arithmetic } from './convolution-product.ts';
import type { GraphBuilder } from './graph-builder.ts';
import { DataType } from './onnx-proto.ts';
import { transposed } from './tensors.ts';

/** A layer in the layout of checkpoints: the weight is row-major [outputs, inputs]. */
export interface LinearLayer {
  readonly outputs: number;
  readonly inputs: number;
  readonly weight: Float32Array;
  /** One value per output. */
  readonly bias?: Float32Array | undefined;
}

/** `float32` is used for references and for values that are computed once. */
export type LinearArithmetic = Arithmetic | 'float32';

/**
 * Appends the layer. Integer weights have one scale per output. The activations have one scale per run, which is exact
 * enough for a decoder step with its single row.
 * @param x float32 [..., inputs]
 * @returns float32 [..., outputs]
 */
export function linearLayer(
  g: GraphBuilder,
  x: string,
  layer: LinearLayer,
  arithmetic: LinearArithmetic,
): string {
  switch (arithmetic) {
    case 'float32': {
      const weight = g.floats([layer.inputs, layer.outputs], columnsOf(layer));
      return withBias(g, g.op('MatMul', [x, weight]), layer);
    }
    case 'float16': {
      const weight = g.float16s([layer.inputs, layer.outputs], columnsOf(layer));
      const product = g.op('MatMul', [g.op('Cast', [x], { to: DataType.FLOAT16 }), weight]);
      return withBias(g, g.op('Cast', [product], { to: DataType.FLOAT }), layer);
    }
    case 'int8':
    case 'uint8':
      return integerLayer(g, x, layer, arithmetic);
  }
}

function integerLayer(g: GraphBuilder, x: string, layer: LinearLayer, arithmetic: 'int8' | 'uint8'): string {
  const { inputs, outputs, bias } = layer;
  const { values, scales } = quantizedColumns(layer);
  // uint8 uses the same quantisation steps, shifted by the zero point.
  const zero = arithmetic === 'uint8' ? 128 : 0;
  if (zero > 0) for (const [i, value] of values.entries()) values[i] = value ^ 0x80;
  const dataType = arithmetic === 'uint8' ? DataType.UINT8 : DataType.INT8;
  const integers = (dims: number[], bytes: Uint8Array) =>
    g.constant((name) => ({ name, dims, dataType, rawData: bytes }));
  const input = [
    x,
    integers([inputs, outputs], new Uint8Array(values.buffer)),
    g.floats([outputs], scales),
    integers([outputs], new Uint8Array(outputs).fill(zero)),
  ];
  if (bias) input.push(g.floats([outputs], bias));
  return g.ops('DynamicQuantizeMatMul', input, 1, {}, 'com.microsoft')[0] ?? '';
}

/**
 * Appends the layer for inputs whose rows differ in level. Each row is normalized to the same peak before quantisation,
 * because a common scale would leave few quantisation steps for quiet rows.
 */
export function rowwiseLinearLayer(
  g: GraphBuilder,
  x: string,
  layer: LinearLayer,
  arithmetic: LinearArithmetic,
): string {
  if (arithmetic === 'float32' || arithmetic === 'float16') return linearLayer(g, x, layer, arithmetic);
  const peaks = g.op('ReduceMax', [g.op('Abs', [x]), g.ints(-1)], { keepdims: 1 });
  const scales = g.op('Add', [peaks, g.floats([], [1e-6])]);
  const product = linearLayer(g, g.op('Div', [x, scales]), { ...layer, bias: undefined }, arithmetic);
  return withBias(g, g.op('Mul', [product, scales]), layer);
}

/** Quantises to symmetric int8 with one scale per output, as [inputs, outputs]. */
function quantizedColumns({ inputs, outputs, weight }: LinearLayer): {
  readonly values: Int8Array<ArrayBuffer>;
  readonly scales: Float32Array;
} {
  const values = new Int8Array(inputs * outputs);
  const scales = new Float32Array(outputs);
  for (let o = 0; o < outputs; o++) {
    const row = weight.subarray(o * inputs, (o + 1) * inputs);
    let peak = 0;
    for (const value of row) peak = Math.max(peak, Math.abs(value));
    const scale = peak > 0 ? peak / 127 : 1;
    scales[o] = scale;
    for (let i = 0; i < inputs; i++) values[i * outputs + o] = Math.round((row[i] ?? 0) / scale);
  }
  return { values, scales };
}

function columnsOf({ inputs, outputs, weight }: LinearLayer): Float32Array {
  return transposed(weight, outputs, inputs);
}

function withBias(g: GraphBuilder, product: string, { outputs, bias }: LinearLayer): string {
  return bias ? g.op('Add', [product, g.floats([outputs], bias)]) : product;
}
