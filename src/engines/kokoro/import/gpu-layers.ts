/**
 * Convolutions of the acoustic graph as products and sums. On CUDA, ONNX Runtime builds a new cuDNN plan for each convolution
 * whenever the length of its input changes, which takes about 7 ms on an H100; here every utterance has another length.
 */

import { slice } from '../../../inference/onnx/convolution-product.ts';
import { GraphBuilder } from '../../../inference/onnx/graph-builder.ts';
import type { Node } from '../../../inference/onnx/onnx-proto.ts';
import type { GraphIndex } from '../../../inference/onnx/rewrite.ts';
import { floatsOf } from '../../../inference/onnx/tensors.ts';

/** Replacement of a node; the last value keeps its name. */
interface Replacement {
  readonly node: Node[];
  readonly initializer: ReturnType<GraphBuilder['build']>['initializer'];
}

/**
 * The transposed convolution that doubles the rate of [1, channels, n]: depthwise, 3 taps, stride 2, padding 1, output
 * padding 1. Undefined for other nodes.
 */
export function doubledRate(index: GraphIndex, node: Node): Replacement | undefined {
  const [x = '', weightName, biasName] = node.input;
  const weight = index.initializer(weightName);
  const [channels = 0, perGroup, taps] = weight.dims;
  const ints = (name: string) => node.attribute.find((each) => each.name === name)?.ints?.join();
  if (perGroup !== 1 || taps !== 3 || ints('strides') !== '2' || ints('pads') !== '1,1') return undefined;
  const values = floatsOf(weight);
  const g = new GraphBuilder('doubled', `${node.output[0]}_`);
  const tap = (at: number) =>
    g.floats(
      [1, channels, 1],
      Float32Array.from({ length: channels }, (_, channel) => values[channel * 3 + at] ?? 0),
    );
  const end = g.floats([1, channels, 1], new Float32Array(channels));
  const next = g.op('Concat', [slice(g, x, 2, 1), end], { axis: 2 });
  const even = g.op('Mul', [x, tap(1)]);
  const odd = g.op('Add', [g.op('Mul', [x, tap(2)]), g.op('Mul', [next, tap(0)])]);
  const pairs = g.op('Concat', [g.op('Unsqueeze', [even, g.ints(3)]), g.op('Unsqueeze', [odd, g.ints(3)])], {
    axis: 3,
  });
  const doubled = g.op('Reshape', [pairs, g.ints(1, channels, -1)]);
  const bias = floatsOf(index.initializer(biasName));
  g.alias(node.output[0] ?? '', g.op('Add', [doubled, g.floats([1, channels, 1], bias)]));
  return g.build();
}

/** The convolution that halves the rate of a single channel [1, 1, 2n]: 3 taps, stride 2, padding 1. */
export function halvedRate(x: string, output: string, weight: Float32Array, bias: number): Replacement {
  const g = new GraphBuilder('halved', `${output}_`);
  const pairs = g.op('Reshape', [x, g.ints(1, -1, 2)]);
  const odd = slice(g, pairs, 2, 1, 2);
  const start = g.floats([1, 1, 1], [0]);
  const previous = slice(g, g.op('Concat', [start, odd], { axis: 1 }), 1, 0, -1);
  const [before = 0, ...taps] = weight;
  // [1, n, 2] x [2, 1]
  const here = g.op('MatMul', [pairs, g.floats([2, 1], taps)]);
  const sum = g.op('Add', [here, g.op('Mul', [previous, g.floats([], [before])])]);
  g.alias(output, g.op('Transpose', [g.op('Add', [sum, g.floats([], [bias])])], { perm: [0, 2, 1] }));
  return g.build();
}

/**
 * A strided convolution of a single channel of samples as one product.
 * @param samples a multiple of `hop` of samples.
 * @param kernel [outputs, taps]; the number of taps is a multiple of `hop`.
 * @returns [1, frames, outputs]
 */
export function stridedProduct(
  g: GraphBuilder,
  samples: string,
  hop: number,
  kernel: Float32Array,
  bias: Float32Array,
): string {
  const outputs = bias.length;
  const taps = kernel.length / outputs;
  const hops = g.op('Reshape', [samples, g.ints(1, -1, hop)]);
  const count = taps / hop;
  const views = Array.from({ length: count }, (_, at) => slice(g, hops, 1, at, at - count + 1));
  const matrix = new Float32Array(kernel.length);
  for (let output = 0; output < outputs; output++) {
    for (let tap = 0; tap < taps; tap++) matrix[tap * outputs + output] = kernel[output * taps + tap] ?? 0;
  }
  const product = g.op('MatMul', [g.op('Concat', views, { axis: 2 }), g.floats([taps, outputs], matrix)]);
  return g.op('Add', [product, g.floats([outputs], bias)]);
}
