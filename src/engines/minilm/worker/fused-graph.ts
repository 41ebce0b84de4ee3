/**
 * Rewrites the graph file of all-MiniLM-L6-v2 with the fused operators of ONNX Runtime: 55 operators instead of 300. The
 * runtime does not recognize the attention of the file by itself. Weights and arithmetic stay the same; sums are computed in
 * a different order.
 *
 * `input_ids` i64[rows, tokens], `attention_mask` i64[rows, tokens] → `sum` f32[rows, 384]: the sum of the last layer over
 * the tokens with mask 1.
 */

import { GraphBuilder } from '../../../inference/onnx/graph-builder.ts';
import {
  DataType,
  decodeModel,
  encodeModel,
  type Graph,
  type Tensor,
} from '../../../inference/onnx/onnx-proto.ts';
import { GraphIndex } from '../../../inference/onnx/rewrite.ts';
import { dequantize, floatsOf } from '../../../inference/onnx/tensors.ts';

/** Number of elements of a vector. */
export const DIMENSIONS = 384;
/** Number of position embeddings. The model was trained with inputs of up to 256 tokens. */
export const MAX_TOKENS = 512;

const LAYERS = 6;
const HEADS = 12;
const LAYER_NORM_EPSILON = 1e-12;
/** Domain of the fused operators. */
const FUSED = 'com.microsoft';

/** @throws Error when the file is not this model. */
export function fusedGraph(file: Uint8Array): Uint8Array {
  const weights = new Weights(file);
  const g = new GraphBuilder('minilm');
  const fused = (opType: string, input: readonly string[], attributes = {}) =>
    g.ops(opType, input, 1, attributes, FUSED)[0] as string;
  const floats = (name: string) => {
    const values = weights.floats(name);
    return g.floats([values.length], values);
  };
  const normalized = (input: string, skip: string, name: string, bias: readonly string[] = []) =>
    fused(
      'SkipLayerNormalization',
      [input, skip, floats(`${name}.weight`), floats(`${name}.bias`), ...bias],
      {
        epsilon: { f: LAYER_NORM_EPSILON },
      },
    );

  const ids = g.input('input_ids', ['rows', 'tokens'], DataType.INT64);
  const mask = g.input('attention_mask', ['rows', 'tokens'], DataType.INT64);
  const keyMask = g.op('Cast', [mask], { to: DataType.INT32 });
  // Rows of the 8-bit table are converted after the selection: the float table would take 47 MB.
  const { quantized, scale } = weights.quantized('inner.embeddings.word_embeddings.weight');
  const [row, rowScale] = [quantized, scale].map((table) =>
    g.op('Gather', [g.constant((name) => ({ ...table, name })), ids]),
  );
  const words = g.op('Mul', [g.op('Cast', [row ?? ''], { to: DataType.FLOAT }), rowScale ?? '']);
  const positions = g.op('Slice', [
    g.floats([1, MAX_TOKENS, DIMENSIONS], weights.positions()),
    g.ints(0),
    g.op('Shape', [ids], { start: 1, end: 2 }),
    g.ints(1),
  ]);
  let x = normalized(words, positions, 'inner.embeddings.LayerNorm');
  for (let layer = 0; layer < LAYERS; layer += 1) {
    const name = `inner.encoder.layer.${layer}`;
    const matrix = (part: string, inputs: number, outputs: number) =>
      g.floats([inputs, outputs], weights.matrix(`${name}.${part}.bias`));
    const attention = fused('Attention', [x, ...attentionWeights(g, weights, name), keyMask], {
      num_heads: HEADS,
    });
    const attended = g.op('MatMul', [attention, matrix('attention.output.dense', DIMENSIONS, DIMENSIONS)]);
    const middle = normalized(attended, x, `${name}.attention.output.LayerNorm`, [
      floats(`${name}.attention.output.dense.bias`),
    ]);
    const wide = g.op('MatMul', [middle, matrix('intermediate.dense', DIMENSIONS, 4 * DIMENSIONS)]);
    const active = fused('BiasGelu', [wide, floats(`${name}.intermediate.dense.bias`)]);
    const narrow = g.op('MatMul', [active, matrix('output.dense', 4 * DIMENSIONS, DIMENSIONS)]);
    x = normalized(narrow, middle, `${name}.output.LayerNorm`, [floats(`${name}.output.dense.bias`)]);
  }
  // [rows, 1, tokens] x [rows, tokens, 384]
  const selected = g.op('Unsqueeze', [g.op('Cast', [mask], { to: DataType.FLOAT }), g.ints(1)]);
  g.output('sum', g.op('Squeeze', [g.op('MatMul', [selected, x]), g.ints(1)]));
  const opsetImport = [{ version: 17 }, { domain: FUSED, version: 1 }];
  return encodeModel({ irVersion: 8, producerName: 'minilm-fusion', opsetImport, graph: g.build() });
}

/** The quantization is symmetric. */
const ZERO_POINT: Tensor = { name: 'zero', dims: [1], dataType: DataType.INT8, rawData: Uint8Array.of(0) };

const PROJECTIONS = ['query', 'key', 'value'] as const;

/** The projections of a layer to queries, keys and values as one matrix [384, 3 x 384] and its bias. */
function attentionWeights(g: GraphBuilder, weights: Weights, layer: string): [string, string] {
  const columns = PROJECTIONS.length * DIMENSIONS;
  const matrix = new Float32Array(DIMENSIONS * columns);
  const bias = new Float32Array(columns);
  for (const [index, projection] of PROJECTIONS.entries()) {
    const name = `${layer}.attention.self.${projection}.bias`;
    const part = weights.matrix(name);
    bias.set(weights.floats(name), index * DIMENSIONS);
    for (let row = 0; row < DIMENSIONS; row += 1) {
      const values = part.subarray(row * DIMENSIONS, (row + 1) * DIMENSIONS);
      matrix.set(values, row * columns + index * DIMENSIONS);
    }
  }
  return [g.floats([DIMENSIONS, columns], matrix), g.floats([columns], bias)];
}

/** The weights in the file. Tables and matrices have 8 bits: `Mul(Cast(quantized), scale)`. */
class Weights {
  readonly #graph: Graph;
  readonly #index: GraphIndex;

  constructor(file: Uint8Array) {
    this.#graph = decodeModel(file).graph;
    this.#index = new GraphIndex(this.#graph);
  }

  /** The values of a constant. @throws Error when the graph has no such constant. */
  floats(name: string): Float32Array {
    return floatsOf(this.#index.initializer(name));
  }

  /** The constants of a weight. Matrices have one scale per column, tables one per row. */
  quantized(weight: string | undefined): { readonly quantized: Tensor; readonly scale: Tensor } {
    const { input } = this.#index.producer(weight);
    return {
      quantized: this.#index.initializer(this.#index.producer(input[0]).input[0]),
      scale: this.#index.initializer(input[1]),
    };
  }

  /** Embeddings of the positions plus that of token type 0, the only one in use: f32[MAX_TOKENS, DIMENSIONS]. */
  positions(): Float32Array {
    const { quantized, scale } = this.quantized('inner.embeddings.position_embeddings.weight');
    const type = this.floats('inner.embeddings.token_type_embeddings.weight');
    const positions = dequantize(quantized, scale, ZERO_POINT, 0);
    return positions.map((value, index) => value + (type[index % DIMENSIONS] ?? 0));
  }

  /** The matrix whose product is added to this bias, [inputs, outputs]. */
  matrix(bias: string): Float32Array {
    const addition = this.#graph.node.find(({ input }) => input.includes(bias));
    const product = this.#index.producer(addition?.input.find((name) => name !== bias));
    const { quantized, scale } = this.quantized(product.input[1]);
    return dequantize(quantized, scale, ZERO_POINT, 1);
  }
}
