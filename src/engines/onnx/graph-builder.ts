/** Writing an ONNX graph by hand: each call appends one node and returns the name of its output. */

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

/** Attribute values: an integer, a list of integers, a float in `{ f }` or text. */
export type AttributeValue = number | readonly number[] | { readonly f: number } | string;

function attribute(name: string, value: AttributeValue): Attribute {
  if (typeof value === 'number') return { name, type: AttributeType.INT, i: value };
  if (typeof value === 'string') {
    return { name, type: AttributeType.STRING, s: new TextEncoder().encode(value) };
  }
  if ('f' in value) return { name, type: AttributeType.FLOAT, f: value.f };
  return { name, type: AttributeType.INTS, ints: [...value] };
}

/** A node of the default operator set. */
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

  /** @param prefix put before every generated name, so that parts of one graph can be built apart. */
  constructor(name: string, prefix = '') {
    this.#prefix = prefix;
    this.#graph = { name, node: [], initializer: [], input: [], output: [] };
  }

  /** Declares an input, float32 unless said; a dimension is a size or the name of one that varies. Returns its name. */
  input(name: string, dims: readonly (number | string)[], elemType: number = DataType.FLOAT): string {
    const dim: Dimension[] = dims.map((d) => (typeof d === 'number' ? { dimValue: d } : { dimParam: d }));
    this.#graph.input.push({ name, type: { tensorType: { elemType, shape: { dim } } } });
    return name;
  }

  /** Declares that a value, already computed, is a float32 output under `name`. */
  output(name: string, value: string): void {
    this.alias(name, value);
    this.#graph.output.push({ name, type: { tensorType: { elemType: DataType.FLOAT } } });
  }

  /** A node with one output. */
  op(
    opType: string,
    input: readonly string[],
    attributes: Readonly<Record<string, AttributeValue>> = {},
  ): string {
    const [output] = this.ops(opType, input, 1, attributes);
    return output as string;
  }

  /** A node with several outputs, of the default operator set or of another domain's. */
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

  /** A float32 constant. */
  floats(dims: readonly number[], values: ArrayLike<number>): string {
    return this.constant((name) => floatTensor(name, dims, Float32Array.from(values)));
  }

  /** A float16 constant, rounded from float32 values. */
  float16s(dims: readonly number[], values: Float32Array): string {
    return this.constant((name) => float16Tensor(name, dims, values));
  }

  /** A one-dimensional int64 constant. */
  ints(...values: number[]): string {
    return this.constant((name) => int64Tensor(name, values));
  }

  /** Any constant, made under the name that it is given. */
  constant(make: (name: string) => Tensor): string {
    const tensor = make(`${this.#prefix}const_${this.#count++}`);
    this.#graph.initializer.push(tensor);
    return tensor.name;
  }

  /** Gives a value, already computed, a second name. */
  alias(name: string, value: string): void {
    this.#graph.node.push(makeNode('Identity', [value], [name]));
  }

  build(): Graph {
    return this.#graph;
  }
}
