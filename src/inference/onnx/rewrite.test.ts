import { describe, expect, test } from 'vitest';
import { GraphBuilder } from './graph-builder.ts';
import { DataType, decodeModel, encodeModel, type Graph } from './onnx-proto.ts';
import { extractSubgraph, GraphIndex, readQuantizedLayer, replaceNodes } from './rewrite.ts';
import { dequantize, floatsOf, floatTensor, int64Tensor, valuesOf } from './tensors.ts';

/** a → Abs → Exp → `long`, and a → Neg → `short`, with a constant in each. */
function forked(): { graph: Graph; long: string; short: string } {
  const g = new GraphBuilder('forked');
  const a = g.input('a', [2]);
  g.input('unused', [1]);
  const long = g.op('Add', [g.op('Exp', [g.op('Abs', [a])]), g.floats([1], [1])]);
  const short = g.op('Mul', [g.op('Neg', [a]), g.floats([1], [2])]);
  return { graph: g.build(), long, short };
}

describe('onnx files', () => {
  test('a graph is equal after writing and reading', () => {
    const { graph } = forked();
    const model = { irVersion: 9, producerName: 'test', opsetImport: [{ version: 20 }], graph };
    const read = decodeModel(encodeModel(model));
    expect(read.graph.node.map((node) => [node.opType, node.input, node.output])).toEqual(
      graph.node.map((node) => [node.opType, node.input, node.output]),
    );
    expect(read.graph.initializer.map((tensor) => Array.from(valuesOf(tensor)))).toEqual([[1], [2]]);
    expect(read.opsetImport[0]?.version).toBe(20);
  });

  test('truncated bytes are an error', () => {
    const { graph } = forked();
    const bytes = encodeModel({ irVersion: 9, producerName: 'test', opsetImport: [], graph });
    expect(() => decodeModel(bytes.subarray(0, bytes.length - 3))).toThrow();
  });
});

describe('tensors', () => {
  test('floats are read from raw bytes at any offset', () => {
    const padded = new Uint8Array(9);
    padded.set(new Uint8Array(Float32Array.of(1.5, -2).buffer), 1);
    const tensor = { name: 't', dims: [2], dataType: DataType.FLOAT, rawData: padded.subarray(1) };
    expect(Array.from(floatsOf(tensor))).toEqual([1.5, -2]);
  });

  test('an unsupported element type is named in the error', () => {
    expect(() => valuesOf(int64Tensor('shape', [1]))).toThrow('tensor shape: element type 7');
  });

  test('dequantisation uses one scale, or one per channel of an axis', () => {
    const q = { name: 'q', dims: [2, 2], dataType: DataType.INT8, rawData: Uint8Array.of(1, 2, 255, 254) };
    const zero = { name: 'z', dims: [], dataType: DataType.INT8, rawData: Uint8Array.of(1) };
    const scale = (values: number[]) => floatTensor('s', [values.length], Float32Array.from(values));
    expect(Array.from(dequantize(q, scale([2]), zero, 0))).toEqual([0, 2, -4, -6]);
    expect(Array.from(dequantize(q, scale([1, 10]), zero, 0))).toEqual([0, 1, -20, -30]);
    expect(Array.from(dequantize(q, scale([1, 10]), zero, 1))).toEqual([0, 10, -2, -30]);
    expect(() => dequantize(q, scale([1, 2, 3]), zero, 0)).toThrow('3 scales');
  });
});

describe('rewriting', () => {
  test('a subgraph contains only the nodes, constants and inputs that it needs', () => {
    const { graph, short } = forked();
    const part = extractSubgraph(graph, [{ name: 'y', value: short }]);
    expect(part.node.map((node) => node.opType)).toEqual(['Neg', 'Mul', 'Identity']);
    expect(part.initializer).toHaveLength(1);
    expect(part.input.map((input) => input.name)).toEqual(['a']);
    expect(part.output.map((output) => output.name)).toEqual(['y']);
  });

  test('unused inputs of a replaced node are removed', () => {
    const { graph, long } = forked();
    const part = replaceNodes(graph, [{ name: 'y', value: long }], (node) => {
      if (node.opType !== 'Exp') return undefined;
      const g = new GraphBuilder('new', 'new_');
      g.alias(node.output[0] ?? '', g.op('Sin', ['a']));
      return g.build();
    });
    expect(part.node.map((node) => node.opType)).toEqual(['Sin', 'Identity', 'Add', 'Identity']);
  });

  test('a chain that is not of dynamic quantisation is rejected', () => {
    const g = new GraphBuilder('odd');
    const weight = g.constant(() => ({
      name: 'w_quantized',
      dims: [1, 1],
      dataType: DataType.INT8,
      rawData: Uint8Array.of(1),
    }));
    g.constant(() => floatTensor('w_scale', [], Float32Array.of(1)));
    const zero = g.constant((name) => ({
      name,
      dims: [],
      dataType: DataType.INT8,
      rawData: Uint8Array.of(0),
    }));
    const product = g.op('MatMulInteger', [g.op('Abs', [g.input('a', [1])]), weight, '', zero]);
    g.op('Neg', [g.op('Abs', [product])]);
    const index = new GraphIndex(g.build());
    expect(() => readQuantizedLayer(index, index.producer(product))).toThrow('not a chain');
  });

  test('missing nodes and constants are named in the error', () => {
    const index = new GraphIndex(forked().graph);
    expect(() => index.node('nowhere')).toThrow('no node nowhere');
    expect(() => index.initializer(undefined)).toThrow('no constant');
    expect(() => index.producer('a')).toThrow('no producer of a');
  });
});
