/** Transformations of ONNX graphs: extraction of subgraphs and replacement of nodes. */

import { makeNode } from './graph-builder.ts';
import type { Graph, Node, Tensor } from './onnx-proto.ts';
import { floatsOf } from './tensors.ts';

/** Index of the nodes and constants of a graph by name, and of the consumers of each value. */
export class GraphIndex {
  readonly #producers = new Map<string, Node>();
  readonly #consumers = new Map<string, Node[]>();
  readonly #initializers = new Map<string, Tensor>();
  readonly #nodes = new Map<string, Node>();

  constructor(graph: Graph) {
    for (const tensor of graph.initializer) this.#initializers.set(tensor.name, tensor);
    for (const node of graph.node) {
      this.#nodes.set(node.name, node);
      for (const output of node.output) this.#producers.set(output, node);
      for (const input of node.input) {
        const list = this.#consumers.get(input);
        if (list) list.push(node);
        else this.#consumers.set(input, [node]);
      }
    }
  }

  /** @throws Error when the graph has no node of this name. */
  node(name: string): Node {
    return required(this.#nodes.get(name), `node ${name}`);
  }

  /** @throws Error when the value is not a constant of the graph. */
  initializer(name: string | undefined): Tensor {
    return required(this.#initializers.get(name ?? ''), `constant ${name}`);
  }

  /** The node that computes a value. @throws Error when there is none. */
  producer(value: string | undefined): Node {
    return required(this.#producers.get(value ?? ''), `producer of ${value}`);
  }

  producerIfAny(value: string): Node | undefined {
    return this.#producers.get(value);
  }

  /** The only consumer of a node's first output. @throws Error when there are none or several. */
  consumer(node: Node): Node {
    const list = this.#consumers.get(node.output[0] ?? '') ?? [];
    if (list.length !== 1) throw new Error(`${node.name}: expected one consumer, found ${list.length}`);
    return list[0] as Node;
  }
}

function required<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new Error(`the graph has no ${name}`);
  return value;
}

/**
 * Extracts the part of a graph that computes `outputs`. Unused inputs of the graph are omitted. The order of the nodes,
 * which must be topological in ONNX, is preserved.
 */
export function extractSubgraph(graph: Graph, outputs: readonly { name: string; value: string }[]): Graph {
  const index = new GraphIndex(graph);
  const needed = new Set<string>();
  const retained = new Set<Node>();
  const pending = outputs.map((output) => output.value);
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (needed.has(value)) continue;
    needed.add(value);
    const node = index.producerIfAny(value);
    if (!node || retained.has(node)) continue;
    retained.add(node);
    pending.push(...node.input.filter((name) => name !== ''));
  }
  return {
    name: graph.name,
    node: [
      ...graph.node.filter((node) => retained.has(node)),
      ...outputs.map(({ name, value }) => makeNode('Identity', [value], [name])),
    ],
    initializer: graph.initializer.filter((tensor) => needed.has(tensor.name)),
    input: graph.input.filter((input) => needed.has(input.name)),
    output: outputs.map(({ name }) => ({ name, type: { tensorType: { elemType: 1 } } })),
  };
}

/** The original layer of a dynamically quantised graph, with quantised weights. */
export interface QuantizedLayer {
  /** Name of the input value, before quantisation. */
  readonly input: string;
  /** Name of the output value, after scaling. */
  readonly output: string;
  /** Convolution `[out, in, taps]` or matrix `[in, out]`, 8 bits. */
  readonly weight: Tensor;
  /** One value, or one per output channel. */
  readonly scale: Tensor;
  readonly zeroPoint: Tensor;
  /** Axis of the output channels of `weight`. */
  readonly channelAxis: number;
  readonly bias: Float32Array | undefined;
}

/**
 * Reads `DynamicQuantizeLinear → ConvInteger | MatMulInteger [→ Add(bias)] → Cast → Mul(scale)` back into
 * the original layer. The naming rules are those of the quantizer of onnxruntime: the scale of weight `X_quantized` is
 * `X_scale`; the bias of a convolution is `Reshape(Cast(Floor(Div(bias, scale))))`.
 * @throws Error when the nodes do not form this chain.
 */
export function readQuantizedLayer(index: GraphIndex, node: Node): QuantizedLayer {
  const quantize = index.producer(node.input[0]);
  const weight = index.initializer(node.input[1]);
  const scale = index.initializer(weight.name.replace(/_quantized$/, '_scale'));
  const zeroPoint = index.initializer(node.input[3]);
  const channelAxis = node.opType === 'ConvInteger' ? 0 : weight.dims.length - 1;
  let next = index.consumer(node);
  let bias: Float32Array | undefined;
  if (next.opType === 'Add') {
    const reshape = index.producer(next.input[1]);
    const floor = index.producer(index.producer(reshape.input[0]).input[0]);
    bias = floatsOf(index.initializer(index.producer(floor.input[0]).input[0]));
    next = index.consumer(next);
  }
  const rescale = index.consumer(next);
  if (quantize.opType !== 'DynamicQuantizeLinear' || next.opType !== 'Cast' || rescale.opType !== 'Mul') {
    throw new Error(`${node.name}: not a chain of dynamic quantisation`);
  }
  return {
    input: quantize.input[0] as string,
    output: rescale.output[0] as string,
    weight,
    scale,
    zeroPoint,
    channelAxis,
    bias,
  };
}

/**
 * Copies a graph and replaces some of its nodes. `replace` returns the nodes and constants that compute the outputs of a
 * node under the same names, or undefined to keep the node. Unused nodes and constants are removed.
 */
export function replaceNodes(
  graph: Graph,
  outputs: readonly { name: string; value: string }[],
  replace: (node: Node) => { node: readonly Node[]; initializer: readonly Tensor[] } | undefined,
): Graph {
  const initializer = new Map(graph.initializer.map((tensor) => [tensor.name, tensor]));
  const node: Node[] = [];
  for (const old of graph.node) {
    const replacement = replace(old);
    if (!replacement) {
      node.push(old);
      continue;
    }
    node.push(...replacement.node);
    for (const tensor of replacement.initializer) initializer.set(tensor.name, tensor);
  }
  return extractSubgraph({ ...graph, node, initializer: [...initializer.values()] }, outputs);
}
