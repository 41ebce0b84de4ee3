import { expect, test } from 'vitest';
import { GraphBuilder, makeNode } from '../../../inference/onnx/graph-builder.ts';
import { encodeModel, type Graph } from '../../../inference/onnx/onnx-proto.ts';
import { GraphIndex } from '../../../inference/onnx/rewrite.ts';
import { floatTensor } from '../../../inference/onnx/tensors.ts';
import { openGraph } from '../../../inference/runtime/runtime.ts';
import { seededRandom } from '../../../kit/math/seeded-random.ts';
import { doubledRate, halvedRate, stridedProduct } from './gpu-layers.ts';

const random = seededRandom(1);
const floats = (length: number) => Float32Array.from({ length }, () => random() - 0.5);

async function run(graph: Graph, dims: number[], data: Float32Array): Promise<number[]> {
  const model = encodeModel({ irVersion: 9, producerName: 'test', opsetImport: [{ version: 20 }], graph });
  const session = await openGraph(model, { provider: 'cpu', threads: 1 });
  const { y } = await session.run({ x: { type: 'float32', dims, data } }, ['y']);
  await session.close();
  return [...y.data];
}

/** Runs a convolution and its replacement on random values. */
async function expectSame(
  convolution: { opType: string; weight: number[]; bias: number; attributes: object; dims: number[] },
  replace: (graph: Graph, weight: Float32Array, bias: Float32Array) => Pick<Graph, 'node' | 'initializer'>,
) {
  const { opType, weight, bias, attributes, dims } = convolution;
  const [weights, biases, input] = [
    floats(weight.reduce((product, size) => product * size, 1)),
    floats(bias),
    floats(dims.reduce((product, size) => product * size, 1)),
  ];
  const g = new GraphBuilder('convolution');
  const x = g.input('x', [1, 'channels', 'n']);
  g.output('y', x);
  const base = g.build();
  const initializer = [floatTensor('w', weight, weights), floatTensor('b', [bias], biases)];
  const node = { ...makeNode(opType, ['x', 'w', 'b'], ['y']), attribute: attributesOf(attributes) };
  const reference: Graph = { ...base, node: [node], initializer };
  const replacement = replace(reference, weights, biases);
  const replaced: Graph = { ...base, node: replacement.node, initializer: replacement.initializer };
  const [expected, actual] = [await run(reference, dims, input), await run(replaced, dims, input)];
  expect(actual).toHaveLength(expected.length);
  for (const [at, value] of actual.entries()) expect(value).toBeCloseTo(expected[at] ?? Number.NaN, 5);
}

function attributesOf(attributes: object) {
  const g = new GraphBuilder('attributes');
  g.op('Conv', ['x'], attributes as never);
  return g.build().node[0]?.attribute ?? [];
}

test('the doubled rate equals the transposed convolution', async () => {
  const attributes = { group: 3, kernel_shape: [3], strides: [2], pads: [1, 1], output_padding: [1] };
  await expectSame(
    { opType: 'ConvTranspose', weight: [3, 1, 3], bias: 3, attributes, dims: [1, 3, 7] },
    (graph) => doubledRate(new GraphIndex(graph), graph.node[0] as never) as never,
  );
});

test('the halved rate equals the convolution with stride 2', async () => {
  const attributes = { kernel_shape: [3], strides: [2], pads: [1, 1] };
  await expectSame(
    { opType: 'Conv', weight: [1, 1, 3], bias: 1, attributes, dims: [1, 1, 8] },
    (_graph, weight, bias) => halvedRate('x', 'y', weight, bias[0] ?? 0),
  );
});

test('the strided product equals the strided convolution', async () => {
  const attributes = { kernel_shape: [20], strides: [5] };
  await expectSame(
    { opType: 'Conv', weight: [4, 1, 20], bias: 4, attributes, dims: [1, 1, 45] },
    (_graph, weight, bias) => {
      const g = new GraphBuilder('product');
      const frames = stridedProduct(g, 'x', 5, weight, bias);
      g.alias('y', g.op('Transpose', [frames], { perm: [0, 2, 1] }));
      return g.build();
    },
  );
});
