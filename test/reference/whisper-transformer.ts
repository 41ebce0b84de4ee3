/**
 * The Whisper transformer in plain float64, after `whisper/model.py` of openai/whisper: one position after the other,
 * without cache or batches. Matrices are arrays of rows.
 */

import type {
  AttentionWeights,
  Convolution,
  FeedForwardWeights,
  Norm,
  WhisperWeights,
} from '../../src/engines/whisper/import/weights.ts';
import type { LinearLayer } from '../../src/inference/onnx/linear-layer.ts';

export type Matrix = readonly Float64Array[];

/** Keys and values with one row per position, and the bias of each attention score. */
export interface Seen {
  readonly keys: Matrix;
  readonly values: Matrix;
  readonly bias: readonly number[];
}

/** Additional rows that each layer attends to. */
export interface MoreSeen {
  readonly encoder: readonly Seen[];
  readonly cross: readonly Seen[];
}

/** Error function: its Taylor series where that converges fast, else 1 to 15 digits. */
function erf(x: number): number {
  if (Math.abs(x) > 6) return Math.sign(x);
  let term = x;
  let sum = x;
  for (let n = 1; n < 200 && Math.abs(term) > 1e-18; n++) {
    term *= (-x * x) / n;
    sum += term / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * sum;
}

const gelu = (x: number) => 0.5 * x * (1 + erf(x / Math.SQRT2));
const add = (a: Matrix, b: Matrix): Matrix =>
  a.map((row, i) => row.map((value, j) => value + (b[i]?.[j] ?? 0)));

function linear(x: Matrix, { outputs, inputs, weight, bias }: LinearLayer): Matrix {
  return x.map((row) =>
    Float64Array.from({ length: outputs }, (_, o) => {
      let sum = bias?.[o] ?? 0;
      for (let i = 0; i < inputs; i++) sum += (row[i] ?? 0) * (weight[o * inputs + i] ?? 0);
      return sum;
    }),
  );
}

function norm(x: Matrix, { gamma, beta }: Norm): Matrix {
  return x.map((row) => {
    const mean = row.reduce((a, b) => a + b, 0) / row.length;
    const variance = row.reduce((sum, value) => sum + (value - mean) ** 2, 0) / row.length;
    return row.map(
      (value, i) => ((value - mean) / Math.sqrt(variance + 1e-5)) * (gamma[i] ?? 0) + (beta[i] ?? 0),
    );
  });
}

const feedForward = (x: Matrix, { norm: before, up, down }: FeedForwardWeights): Matrix =>
  add(
    x,
    linear(
      linear(norm(x, before), up).map((row) => row.map(gelu)),
      down,
    ),
  );

/** Probabilities of one head: a row for each query. */
export function headProbabilities(
  queries: Matrix,
  { keys, bias }: Pick<Seen, 'keys' | 'bias'>,
  head: number,
  size: number,
  causal = false,
): Matrix {
  return queries.map((query, n) => {
    const scores = new Float64Array(keys.length).fill(Number.NEGATIVE_INFINITY);
    for (let m = 0; m < (causal ? n + 1 : keys.length); m++) {
      const key = keys[m] as Float64Array;
      let sum = 0;
      for (let i = head * size; i < (head + 1) * size; i++) sum += (query[i] as number) * (key[i] as number);
      scores[m] = sum / Math.sqrt(size) + (bias[m] ?? 0);
    }
    const max = Math.max(...scores);
    const powers = scores.map((score) => Math.exp(score - max));
    const total = powers.reduce((a, b) => a + b, 0);
    return powers.map((power) => power / total);
  });
}

function attention(queries: Matrix, seen: Seen, heads: number, causal = false): Matrix {
  const width = queries[0]?.length ?? 0;
  const size = width / heads;
  const mixed = queries.map(() => new Float64Array(width));
  for (let head = 0; head < heads; head++) {
    for (const [n, row] of headProbabilities(queries, seen, head, size, causal).entries()) {
      const output = mixed[n] as Float64Array;
      for (let m = 0; m < row.length; m++) {
        const value = seen.values[m] as Float64Array;
        const share = row[m] as number;
        for (let i = head * size; i < (head + 1) * size; i++) {
          output[i] = (output[i] as number) + share * (value[i] as number);
        }
      }
    }
  }
  return mixed;
}

function joined(own: Matrix, values: Matrix, more: Seen | undefined): Seen {
  return {
    keys: [...own, ...(more?.keys ?? [])],
    values: [...values, ...(more?.values ?? [])],
    bias: [...own.map(() => 0), ...(more?.bias ?? [])],
  };
}

function convolution(x: Matrix, { dims, weight, bias }: Convolution, stride: number): Matrix {
  const [outputs, inputs, taps] = dims;
  return Array.from({ length: Math.floor((x.length - 1) / stride) + 1 }, (_, t) =>
    Float64Array.from({ length: outputs }, (_, o) => {
      let sum = bias[o] ?? 0;
      for (let k = 0; k < taps; k++) {
        const row = x[t * stride + k - 1];
        for (let i = 0; i < inputs; i++) sum += (row?.[i] ?? 0) * (weight[(o * inputs + i) * taps + k] ?? 0);
      }
      return gelu(sum);
    }),
  );
}

const rowsOf = (table: Float32Array, width: number): Matrix =>
  Array.from({ length: table.length / width }, (_, row) =>
    Float64Array.from(table.subarray(row * width, (row + 1) * width)),
  );

export interface Encoded {
  /** Keys and values of each encoder layer, without additional rows. */
  readonly encoder: readonly Seen[];
  /** Keys and values for cross-attention of the decoder layers, with additional rows. */
  readonly cross: readonly Seen[];
}

/** @param mel [bands, frames], band after band. */
export function encode(weights: WhisperWeights, mel: Float32Array, more?: MoreSeen): Encoded {
  const { melBands, width, heads } = weights;
  const frames = mel.length / melBands;
  const columns = Array.from({ length: frames }, (_, t) =>
    Float64Array.from({ length: melBands }, (_, band) => mel[band * frames + t] ?? 0),
  );
  const [first, second] = weights.convolutions;
  const stem = convolution(convolution(columns, first, 1), second, 2);
  let x = add(stem, rowsOf(weights.audioPositionEmbedding, width));
  const layers: Seen[] = [];
  for (const [i, layer] of weights.encoder.entries()) {
    const { query, key, value, output, norm: before } = layer.attention;
    const normed = norm(x, before);
    const keys = linear(normed, key);
    const values = linear(normed, value);
    layers.push(joined(keys, values, undefined));
    const seen = joined(keys, values, more?.encoder[i]);
    x = add(x, linear(attention(linear(normed, query), seen, heads), output));
    x = feedForward(x, layer.feedForward);
  }
  const encoded = norm(x, weights.encoderNorm);
  const cross = weights.decoder.map(({ cross: { key, value } }, i) =>
    joined(linear(encoded, key), linear(encoded, value), more?.cross[i]),
  );
  return { encoder: layers, cross };
}

export interface Decoded {
  /** A row for each token. */
  readonly logits: Matrix;
  /** Probabilities of each layer's heads: [layer][head], a row for each token. */
  readonly attention: readonly (readonly Matrix[])[];
}

export function decode(weights: WhisperWeights, cross: readonly Seen[], tokens: readonly number[]): Decoded {
  const { width, heads, vocabulary } = weights;
  const words = rowsOf(weights.tokenEmbedding, width);
  const positions = rowsOf(weights.textPositionEmbedding, width);
  let x: Matrix = tokens.map((token, n) =>
    (words[token] as Float64Array).map((value, i) => value + (positions[n]?.[i] ?? 0)),
  );
  const looked: Matrix[][] = [];
  for (const [i, layer] of weights.decoder.entries()) {
    const own = layer.attention;
    const normed = norm(x, own.norm);
    const seen = joined(linear(normed, own.key), linear(normed, own.value), undefined);
    x = add(x, linear(attention(linear(normed, own.query), seen, heads, true), own.output));
    const other: AttentionWeights = layer.cross;
    const queries = linear(norm(x, other.norm), other.query);
    const audio = cross[i] as Seen;
    looked.push(
      Array.from({ length: heads }, (_, head) => headProbabilities(queries, audio, head, width / heads)),
    );
    x = add(x, linear(attention(queries, audio, heads), other.output));
    x = feedForward(x, layer.feedForward);
  }
  const projection = { outputs: vocabulary, inputs: width, weight: weights.tokenEmbedding };
  return { logits: linear(norm(x, weights.decoderNorm), projection), attention: looked };
}
