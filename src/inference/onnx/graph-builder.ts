/** Builder of ONNX graphs. Each call appends one node and returns the name of its output. */

import {
  type Attribute,
  AttributeType,
  DataType,
  type Dimension,
  type Graph,
  type Node,
  type Tensor,
} from './onnx-proto.ts';
import { float16Tensor, floatTensor, int64Tensor } from './tensors.ts';

/** Attribute value: an integer, a list of integers, a float in `{ f }`, or a string. */
export type AttributeValue = number | readonly number[] | { readonly f: number } | string;

function attribute(name: string, value: AttributeValue): Attribute {
  if (typeof value === 'number') return { name, type: AttributeType.INT, i: value };
  if (typeof value === 'string') {
    return { name, type: AttributeType.STRING, s: new TextEncoder().encode(value) };
  }
  if ('f' in value) return { name, type: AttributeType.FLOAT, f: value.f };
  return { name, type: AttributeType.INTS, ints: [...value] };
}

/** Creates a node of the default operator set. */
export function makeNode(
  opType: string,
  input: readonly string[],
  output: readonly string[],
  attributes: Readonly<Record<string, AttributeValue>> = {},
): Node {
  return {
    name: output[0] ?? opType,
    opType,
    input: [...input],
    output: [...output],
    attribute: Object.entries(attributes).map(([name, value]) => attribute(name, value)),
  };
}

export class GraphBuilder {
  readonly #graph: Graph;
  readonly #prefix: string;
  #count = 0;

  /** @param prefix of every generated name, so that parts of one graph can be built separately. */
  constructor(name: string, prefix = '') {
    this.#prefix = prefix;
    this.#graph = { name, node: [], initializer: [], input: [], output: [] };
  }

  /**
   * Declares an input.
   * @param dims sizes of its dimensions, or the names of dimensions with a variable size.
   * @returns its name.
   */
  input(name: string, dims: readonly (number | string)[], elemType: number = DataType.FLOAT): string {
    const dim: Dimension[] = dims.map((d) => (typeof d === 'number' ? { dimValue: d } : { dimParam: d }));
    this.#graph.input.push({ name, type: { tensorType: { elemType, shape: { dim } } } });
    return name;
  }

  /** Declares a computed value as the float32 output `name`. */
  output(name: string, value: string): void {
    this.alias(name, value);
    this.#graph.output.push({ name, type: { tensorType: { elemType: DataType.FLOAT } } });
  }

  /** Appends a node with one output. */
  op(
    opType: string,
    input: readonly string[],
    attributes: Readonly<Record<string, AttributeValue>> = {},
  ): string {
    const [output] = this.ops(opType, input, 1, attributes);
    return output as string;
  }

  /** Appends a node with several outputs, of the default operator set or of another domain. */
  ops(
    opType: string,
    input: readonly string[],
    outputs: number,
    attributes: Readonly<Record<string, AttributeValue>> = {},
    domain = '',
  ): string[] {
    const id = this.#count++;
    const names = Array.from(
      { length: outputs },
      (_, i) => `${this.#prefix}${opType}_${id}${outputs > 1 ? `_${i}` : ''}`,
    );
    this.#graph.node.push({ ...makeNode(opType, input, names, attributes), domain });
    return names;
  }

  /** Adds a float32 constant. */
  floats(dims: readonly number[], values: ArrayLike<number>): string {
    return this.constant((name) => floatTensor(name, dims, Float32Array.from(values)));
  }

  /** Adds a float16 constant, rounded from float32 values. */
  float16s(dims: readonly number[], values: Float32Array): string {
    return this.constant((name) => float16Tensor(name, dims, values));
  }

  /** Adds a one-dimensional int64 constant. */
  ints(...values: number[]): string {
    return this.constant((name) => int64Tensor(name, values));
  }

  /** Adds any constant. `create` receives its name. */
  constant(create: (name: string) => Tensor): string {
    const tensor = create(`${this.#prefix}const_${this.#count++}`);
    this.#graph.initializer.push(tensor);
    return tensor.name;
  }

  /** Adds a second name for a computed value. */
  alias(name: string, value: string): void {
    this.#graph.node.push(makeNode('Identity', [value], [name]));
  }

  build(): Graph {
    return this.#graph;
  }
}
