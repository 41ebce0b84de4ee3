/** Reverts the dynamic quantisation of layers that have no integer kernel on a GPU. */

import { makeNode } from './graph-builder.ts';
import type { Graph, Node, Tensor } from './onnx-proto.ts';
import { GraphIndex, readQuantizedLayer, replaceNodes } from './rewrite.ts';
import { dequantize, floatTensor, valuesOf } from './tensors.ts';

/**
 * Replaces every dynamically quantised matrix product and LSTM with the original float layer. A weight that several
 * layers share (as the twelve layers of ALBERT do) is restored once.
 */
export function restoreFloatLayers(graph: Graph): Graph {
  const index = new GraphIndex(graph);
  const products = new Map<string, Node>();
  for (const node of graph.node) {
    if (node.opType === 'MatMulInteger') products.set(readQuantizedLayer(index, node).output, node);
  }
  const outputs = graph.output.map(({ name }) => ({ name, value: index.producer(name).input[0] ?? name }));
  const body = { ...graph, node: graph.node.filter((node) => !isOutput(graph, node)) };
  return replaceNodes(body, outputs, (node) => {
    if (node.opType === 'DynamicQuantizeLSTM') return floatLstm(index, node);
    const product = products.get(node.output[0] ?? '');
    return product && floatProduct(index, product);
  });
}

function isOutput(graph: Graph, node: Node): boolean {
  return graph.output.some(({ name }) => node.output.includes(name));
}

function floatProduct(index: GraphIndex, node: Node) {
  const layer = readQuantizedLayer(index, node);
  const { weight, scale, zeroPoint, channelAxis } = layer;
  const float = floatTensor(
    `${weight.name}_float`,
    weight.dims,
    dequantize(weight, scale, zeroPoint, channelAxis),
  );
  return { node: [makeNode('MatMul', [layer.input, float.name], [layer.output])], initializer: [float] };
}

/**
 * The DynamicQuantizeLSTM of onnxruntime [X, W, R, B, lengths, h0, c0, P, W scale, W zero, R scale, R zero] stores W and R
 * as [directions, inputs, 4 x hidden]; the standard LSTM requires [directions, 4 x hidden, inputs].
 */
function floatLstm(index: GraphIndex, node: Node) {
  const restore = (weight: number, scale: number, zero: number): Tensor => {
    const tensor = index.initializer(node.input[weight]);
    return floatTensor(
      `${tensor.name}_float`,
      [tensor.dims[0] ?? 0, tensor.dims[2] ?? 0, tensor.dims[1] ?? 0],
      transposedFloats(tensor, index.initializer(node.input[scale]), index.initializer(node.input[zero])),
    );
  };
  const w = restore(1, 8, 9);
  const r = restore(2, 10, 11);
  const [x = '', , , bias = '', lengths = '', hidden = '', cell = ''] = node.input;
  const lstm: Node = {
    ...makeNode('LSTM', [x, w.name, r.name, bias, lengths, hidden, cell], node.output),
    attribute: node.attribute,
  };
  return { node: [lstm], initializer: [w, r] };
}

/** Dequantises and transposes [directions, rows, columns] with one scale per direction, or one per column of each. */
function transposedFloats(tensor: Tensor, scale: Tensor, zeroPoint: Tensor): Float32Array {
  const [directions = 0, rows = 0, columns = 0] = tensor.dims;
  const q = valuesOf(tensor);
  const scales = valuesOf(scale);
  const zeros = valuesOf(zeroPoint);
  const perColumn = scales.length === directions * columns;
  const values = new Float32Array(q.length);
  for (let d = 0; d < directions; d++) {
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        const i = perColumn ? d * columns + column : d;
        const value = (q[(d * rows + row) * columns + column] ?? 0) - (zeros[zeros.length > d ? i : 0] ?? 0);
        values[(d * columns + column) * rows + row] = value * (scales[i] ?? 1);
      }
    }
  }
  return values;
}
