/**
 * A quantised convolution as one matrix product. On two AMX cores, ONNX Runtime 1.30 runs uint8 x int8 products at
 * 640–1,680 GFLOP/s, float convolutions at 270–340 GFLOP/s and ConvInteger slower than that.
 */

import type { GraphBuilder } from './graph-builder.ts';
import { DataType, type Tensor } from './onnx-proto.ts';
import type { QuantizedLayer } from './rewrite.ts';
import { dequantize, floatsOf, valuesOf } from './tensors.ts';

/**
 * Format of the weights, which determines the arithmetic of the product:
 * - `int8`: uint8 x int8, the fastest on CPUs with VNNI, AMX or the dot product of ARM
 * - `uint8`: uint8 x uint8, for x86 CPUs without these instructions, where the uint8 x int8 kernel of ONNX Runtime
 *   saturates at 16 bits
 * - `float16`: for CUDA, whose provider has no integer products
 */
export type Arithmetic = 'int8' | 'uint8' | 'float16';

/**
 * Appends a convolution with stride 1 and an odd number of taps. The output has the length of the input.
 * @param x float32 [1, time, in]
 * @returns float32 [1, time, out]
 */
export function convolutionProduct(
  g: GraphBuilder,
  x: string,
  layer: QuantizedLayer,
  dilation: number,
  arithmetic: Arithmetic,
): string {
  return arithmetic === 'float16'
    ? float16Convolution(g, x, layer, dilation)
    : integerConvolution(g, x, layer, dilation, arithmetic);
}

function integerConvolution(
  g: GraphBuilder,
  x: string,
  layer: QuantizedLayer,
  dilation: number,
  arithmetic: 'int8' | 'uint8',
): string {
  const [outputs = 0, inputs = 0, taps = 0] = layer.weight.dims;
  const [q = '', scale = '', zero = ''] = g.ops('DynamicQuantizeLinear', [x], 3);
  const margin = ((taps - 1) / 2) * dilation;
  const silence = margin === 0 ? '' : g.op('Expand', [zero, g.ints(1, margin, inputs)]);
  const columns = tapsSideBySide(g, q, silence, taps, dilation);
  // A uint8 weight becomes int8 by moving both it and its zero point down by 128.
  const shift = arithmetic === 'int8' ? 128 : 0;
  const weight = rearrangeTaps(
    valuesOf(layer.weight),
    layer.weight.dims,
    (length) => new Uint8Array(length),
    (value) => value - shift,
  );
  const zeroPoint = (valuesOf(layer.zeroPoint)[0] ?? 0) - shift;
  const dataType = arithmetic === 'int8' ? DataType.INT8 : DataType.UINT8;
  const bytes = (dims: number[], rawData: Uint8Array) =>
    g.constant((name): Tensor => ({ name, dims, dataType, rawData }));
  const input = [
    columns,
    bytes([taps * inputs, outputs], weight),
    scale,
    g.floats([], floatsOf(layer.scale)),
    zero,
    bytes([], Uint8Array.of(zeroPoint)),
  ];
  if (layer.bias) input.push(g.floats([outputs], layer.bias));
  return g.ops('MatMulIntegerToFloat', input, 1, {}, 'com.microsoft')[0] ?? '';
}

function float16Convolution(g: GraphBuilder, x: string, layer: QuantizedLayer, dilation: number): string {
  const [outputs = 0, inputs = 0, taps = 0] = layer.weight.dims;
  const half = g.op('Cast', [x], { to: DataType.FLOAT16 });
  const margin = ((taps - 1) / 2) * dilation;
  const silence = margin === 0 ? '' : g.float16s([1, margin, inputs], new Float32Array(margin * inputs));
  const columns = tapsSideBySide(g, half, silence, taps, dilation);
  const values = dequantize(layer.weight, layer.scale, layer.zeroPoint, layer.channelAxis);
  const weight = rearrangeTaps(values, layer.weight.dims, (length) => new Float32Array(length));
  const product = g.op('MatMul', [columns, g.float16s([taps * inputs, outputs], weight)]);
  const y = g.op('Cast', [product], { to: DataType.FLOAT });
  return layer.bias ? g.op('Add', [y, g.floats([outputs], layer.bias)]) : y;
}

/** [1, time, in] → [1, time, taps x in]: the inputs of each tap, padded with `silence` at both ends. */
function tapsSideBySide(g: GraphBuilder, x: string, silence: string, taps: number, dilation: number): string {
  if (taps === 1) return x;
  const padded = g.op('Concat', [silence, x, silence], { axis: 1 });
  const views = Array.from({ length: taps }, (_, tap) =>
    slice(g, padded, 1, tap * dilation, (tap - taps + 1) * dilation),
  );
  return g.op('Concat', views, { axis: 2 });
}

/** Reorders a convolution's weight [out, in, taps] to [taps, in, out], mapping each element. */
export function rearrangeTaps<A extends Uint8Array | Float32Array>(
  from: ArrayLike<number>,
  dims: readonly number[],
  make: (length: number) => A,
  map: (value: number) => number = (value) => value,
): A {
  const [outputs = 0, inputs = 0, taps = 0] = dims;
  const to = make(from.length);
  for (let o = 0; o < outputs; o++) {
    for (let i = 0; i < inputs; i++) {
      for (let k = 0; k < taps; k++) {
        to[(k * inputs + i) * outputs + o] = map(from[(o * inputs + i) * taps + k] ?? 0);
      }
    }
  }
  return to;
}

/** Appends `x[start:end]` on one axis. An `end` of undefined or 0 is the end of the axis. */
export function slice(g: GraphBuilder, x: string, axis: number, start: number, end?: number): string {
  const to = end === undefined || end === 0 ? 2 ** 31 - 1 : end;
  return g.op('Slice', [x, g.ints(start), g.ints(to), g.ints(axis)]);
}
