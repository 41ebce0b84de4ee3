import { afterAll, describe, expect, test } from 'vitest';
import { tinyWhisper } from '../../../../test/generators/tiny-whisper.ts';
import { needsArithmetic } from '../../../../test/harness/arithmetic.ts';
import {
  decode,
  type Encoded,
  encode,
  type Matrix,
  type MoreSeen,
  type Seen,
} from '../../../../test/reference/whisper-transformer.ts';
import type { LinearArithmetic } from '../../../inference/onnx/linear-layer.ts';
import { encodeModel, type Graph } from '../../../inference/onnx/onnx-proto.ts';
import {
  type GraphInput,
  type GraphOutput,
  type GraphSession,
  openGraph,
} from '../../../inference/runtime/runtime.ts';
import { seededRandom } from '../../../kit/math/seeded-random.ts';
import { alignerGraph } from '../import/aligner-graph.ts';
import { decoderGraph } from '../import/decoder-graph.ts';
import { type CachedSilence, encoderGraph, restGraph, type SilentRest } from '../import/encoder-graph.ts';

/** Compares the graphs with a reference implementation of the architecture, with small random weights. */

const POSITIONS = 60;
const weights = tinyWhisper({ audioPositions: POSITIONS, textPositions: 16, vocabulary: 50 });
const { width, heads, melBands } = weights;
const STRIDE = 10;
const SILENCE = -0.6;
const TOKENS = [3, 17, 0, 49, 8, 8, 21];
const HEADS = [
  [0, 1],
  [1, 0],
] as const;

const sessions: GraphSession[] = [];
afterAll(() => Promise.all(sessions.map((session) => session.close())));

async function open(graph: Graph): Promise<GraphSession> {
  const opsetImport = [{ version: 20 }, { domain: 'com.microsoft', version: 1 }];
  const bytes = encodeModel({ irVersion: 9, producerName: 'test', opsetImport, graph });
  const session = await openGraph(bytes, { provider: 'cpu', threads: 1 });
  sessions.push(session);
  return session;
}

type Tensors = Readonly<Record<string, GraphOutput>>;

/** Spectrogram [bands, frames], of which the last `silent` frames are silence. */
function spectrogram(frames: number, silent = 0): Float32Array {
  const random = seededRandom(11);
  const columns = Array.from({ length: frames }, (_, t) =>
    Array.from({ length: melBands }, () => (t >= frames - silent ? SILENCE : 2 * random() - 1)),
  );
  return Float32Array.from(
    { length: melBands * frames },
    (_, i) => columns[i % frames]?.[Math.floor(i / frames)] ?? 0,
  );
}

/** Truncates a spectrogram after `frames` columns. */
function firstFrames(mel: Float32Array, frames: number): Float32Array {
  const all = mel.length / melBands;
  return Float32Array.from(
    { length: melBands * frames },
    (_, i) => mel[Math.floor(i / frames) * all + (i % frames)] ?? 0,
  );
}

const melInput = (mel: Float32Array): Record<string, GraphInput> => ({
  mel: { type: 'float32', dims: [1, melBands, mel.length / melBands], data: mel },
});

const sides = (prefix: string) => [0, 1].flatMap((i) => [`${prefix}key_${i}`, `${prefix}value_${i}`]);
const CROSS = ['cross_bias', ...sides('cross_')];

const flat = (rows: Matrix): number[] => rows.flatMap((row) => [...row]);
/** Converts [1, heads, n, size] to rows of the channels of all heads. */
function rowsOf({ dims, data }: GraphOutput): number[][] {
  const [, , n = 0, size = 0] = dims;
  return Array.from({ length: n }, (_, row) =>
    Array.from(
      { length: width },
      (_, c) => data[(Math.floor(c / size) * n + row) * size + (c % size)] ?? Number.NaN,
    ),
  );
}

/** Maximum absolute difference. */
function apart(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  expect(actual.length).toBe(expected.length);
  return Math.max(...Array.from(actual, (value, i) => Math.abs(value - (expected[i] ?? Number.NaN))));
}

/** Root mean square of the error divided by that of the values. */
function relativeError(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  expect(actual.length).toBe(expected.length);
  const power = (values: number[]) => values.reduce((sum, value) => sum + value * value, 0);
  const difference = Array.from(actual, (value, i) => value - (expected[i] ?? Number.NaN));
  return Math.sqrt(power(difference) / power(Array.from(expected)));
}

/** The cached silence of a whole window, computed with the graph of the import step. */
async function restOf(
  stride: number,
  silence = SILENCE,
  arithmetic: LinearArithmetic = 'float32',
): Promise<SilentRest> {
  const graph = await open(restGraph(weights, arithmetic));
  const mel = new Float32Array(melBands * 2 * POSITIONS).fill(silence);
  const outputs = await graph.run(melInput(mel), [...sides(''), ...sides('cross_')]);
  const cached = (name: string) => {
    const all = outputs[name]?.data ?? new Float32Array(0);
    const rows = Array.from({ length: POSITIONS / stride }, (_, i) => i * stride + Math.floor(stride / 2));
    return Float32Array.from(rows.flatMap((row) => [...all.subarray(row * width, (row + 1) * width)]));
  };
  const both = (prefix: string): CachedSilence[] =>
    [0, 1].map((i) => ({ keys: cached(`${prefix}key_${i}`), values: cached(`${prefix}value_${i}`) }));
  return { stride, encoder: both(''), cross: both('cross_') };
}

/** The cached silence after `positions`, in the format of the reference. */
function moreSeen({ stride, encoder, cross }: SilentRest, positions: number): MoreSeen {
  const rows = (table: Float32Array): Matrix =>
    Array.from({ length: table.length / width }, (_, row) =>
      Float64Array.from(table.subarray(row * width, (row + 1) * width)),
    ).slice(positions / stride);
  const seen = ({ keys, values }: CachedSilence): Seen => ({
    keys: rows(keys),
    values: rows(values),
    bias: rows(keys).map(() => Math.log(stride)),
  });
  return { encoder: encoder.map(seen), cross: cross.map(seen) };
}

async function encodeWith(
  rest: SilentRest,
  mel: Float32Array,
  arithmetic: LinearArithmetic = 'float32',
): Promise<Tensors> {
  const session = await open(encoderGraph(weights, rest, arithmetic));
  return session.run(melInput(mel), CROSS);
}

function expectEqual(tensors: Tensors, { cross }: Encoded): void {
  for (const [i, { keys, values, bias }] of cross.entries()) {
    expect(apart(rowsOf(tensors[`cross_key_${i}`] as GraphOutput).flat(), flat(keys))).toBeLessThan(2e-5);
    expect(apart(rowsOf(tensors[`cross_value_${i}`] as GraphOutput).flat(), flat(values))).toBeLessThan(2e-5);
    expect(apart((tensors.cross_bias as GraphOutput).data, bias)).toBeLessThan(1e-6);
  }
}

test('the silence in integer arithmetic, which large encoders need, is close to float32', async () => {
  const exact = await restOf(1);
  const integer = await restOf(1, SILENCE, 'uint8');
  for (const [i, { keys, values }] of [...exact.encoder, ...exact.cross].entries()) {
    const other = [...integer.encoder, ...integer.cross][i];
    expect(relativeError(other?.keys ?? [], keys)).toBeLessThan(0.05);
    expect(relativeError(other?.values ?? [], values)).toBeLessThan(0.05);
  }
});

describe('the encoder', () => {
  test('equals the reference for a full window, which does not use the cached silence', async () => {
    const mel = spectrogram(2 * POSITIONS);
    const tensors = await encodeWith(await restOf(STRIDE), mel);
    expect(tensors.cross_key_0?.dims).toEqual([1, heads, POSITIONS, width / heads]);
    expect(tensors.cross_bias?.dims).toEqual([1, 1, 1, POSITIONS]);
    expectEqual(tensors, encode(weights, mel));
    const other = await encodeWith(await restOf(STRIDE, 5), mel);
    for (const name of CROSS) expect(other[name]?.data).toEqual(tensors[name]?.data);
  });

  test.each([10, 30, 50])('over %i positions attends to the cached silence', async (positions) => {
    const rest = await restOf(STRIDE);
    const mel = spectrogram(2 * positions);
    const tensors = await encodeWith(rest, mel);
    expect(tensors.cross_bias?.data.length).toBe(positions + (POSITIONS - positions) / STRIDE);
    expectEqual(tensors, encode(weights, mel, moreSeen(rest, positions)));
  });

  test('computes the cached silence like the reference', async () => {
    const mel = new Float32Array(melBands * 2 * POSITIONS).fill(SILENCE);
    const rest = await restOf(1);
    const { encoder, cross } = encode(weights, mel);
    for (const [i, cached] of rest.encoder.entries()) {
      expect(apart(cached.keys, flat(encoder[i]?.keys ?? []))).toBeLessThan(2e-5);
      expect(apart(cached.values, flat(encoder[i]?.values ?? []))).toBeLessThan(2e-5);
    }
    for (const [i, cached] of rest.cross.entries()) {
      expect(apart(cached.keys, flat(cross[i]?.keys ?? []))).toBeLessThan(2e-5);
    }
  });

  test('of a short window approximates the padded window only with the cached silence', async () => {
    const positions = 20;
    const whole = spectrogram(2 * POSITIONS, 2 * (POSITIONS - 15));
    const short = firstFrames(whole, 2 * positions);
    const keysOf = (encoded: Encoded, count: number) =>
      flat(encoded.cross.flatMap(({ keys, values }) => [...keys.slice(0, count), ...values.slice(0, count)]));
    const wanted = keysOf(encode(weights, whole), 15);
    const got = async (stride: number) => {
      const tensors = await encodeWith(await restOf(stride), short);
      return [0, 1].flatMap((i) =>
        [`cross_key_${i}`, `cross_value_${i}`].flatMap((name) =>
          rowsOf(tensors[name] as GraphOutput)
            .slice(0, 15)
            .flat(),
        ),
      );
    };
    const without = relativeError(keysOf(encode(weights, short), 15), wanted);
    const every = relativeError(await got(1), wanted);
    const tenth = relativeError(await got(STRIDE), wanted);
    // Silence next to speech differs slightly from silence alone, and random weights amplify the difference.
    expect(every).toBeLessThan(without / 3);
    expect(tenth).toBeLessThan(without / 2);
  });

  test.for([
    ['float16', 0.005],
    ['int8', 0.06],
    ['uint8', 0.06],
  ] as const)('in %s approximates the reference', async ([arithmetic, bound], context) => {
    needsArithmetic(context, arithmetic);
    const rest = await restOf(STRIDE);
    for (const positions of [20, POSITIONS]) {
      const mel = spectrogram(2 * positions);
      const exact = await encodeWith(rest, mel);
      const rounded = await encodeWith(rest, mel, arithmetic);
      for (const name of sides('cross_')) {
        const error = relativeError(rounded[name]?.data ?? [], exact[name]?.data ?? []);
        expect(error).toBeGreaterThan(0);
        expect(error).toBeLessThan(bound);
      }
    }
  });
});

/** A short window as inputs of the decoder graph, and as inputs of the reference. */
const mel = spectrogram(40);
async function window(): Promise<{ tensors: Tensors; cross: readonly Seen[] }> {
  const rest = await restOf(STRIDE);
  return {
    tensors: await encodeWith(rest, mel),
    cross: encode(weights, mel, moreSeen(rest, 20)).cross,
  };
}

const tokenInput = (tokens: readonly number[]): GraphInput => ({
  type: 'int64',
  dims: [1, tokens.length],
  data: BigInt64Array.from(tokens, BigInt),
});

/** Logits after the last of some tokens, and the cache. */
async function step(decoder: GraphSession, audio: Tensors, tokens: readonly number[], cache?: Tensors) {
  const nothing: GraphInput = {
    type: 'float32',
    dims: [1, heads, 0, width / heads],
    data: new Float32Array(0),
  };
  const past = Object.fromEntries(sides('').map((name) => [`past_${name}`, cache?.[name] ?? nothing]));
  const { logits, ...cached } = await decoder.run({ tokens: tokenInput(tokens), ...past, ...audio }, [
    'logits',
    ...sides(''),
  ]);
  return { logits: (logits as GraphOutput).data, cache: cached as Tensors };
}

describe('the decoder', () => {
  test('equals the reference at every token, for several tokens per step and for one', async () => {
    const { tensors, cross } = await window();
    const decoder = await open(decoderGraph(weights, 'float32'));
    const { logits } = decode(weights, cross, TOKENS);
    let cache: Tensors | undefined;
    for (const [n, token] of TOKENS.entries()) {
      const single = await step(decoder, tensors, [token], cache);
      cache = single.cache;
      expect(cache.key_0?.dims).toEqual([1, heads, n + 1, width / heads]);
      const together = await step(decoder, tensors, TOKENS.slice(0, n + 1));
      const expected = logits[n] as Float64Array;
      expect(apart(single.logits, expected)).toBeLessThan(5e-5);
      expect(apart(together.logits, expected)).toBeLessThan(5e-5);
    }
  });

  test('continues after a prompt processed in one step', async () => {
    const { tensors } = await window();
    const decoder = await open(decoderGraph(weights, 'float32'));
    const prompt = await step(decoder, tensors, TOKENS.slice(0, 4));
    const next = await step(decoder, tensors, TOKENS.slice(4, 5), prompt.cache);
    expect(apart(next.logits, (await step(decoder, tensors, TOKENS.slice(0, 5))).logits)).toBeLessThan(1e-5);
  });

  test.for([
    ['float16', 0.005],
    ['int8', 0.08],
    ['uint8', 0.08],
  ] as const)('in %s approximates the reference', async ([arithmetic, bound], context) => {
    needsArithmetic(context, arithmetic);
    const { tensors } = await window();
    const exact = await open(decoderGraph(weights, 'float32'));
    const rounded = await open(decoderGraph(weights, arithmetic));
    let exactCache: Tensors | undefined;
    let roundedCache: Tensors | undefined;
    for (const token of TOKENS) {
      const a = await step(exact, tensors, [token], exactCache);
      const b = await step(rounded, tensors, [token], roundedCache);
      expect(relativeError(b.logits, a.logits)).toBeLessThan(bound);
      exactCache = a.cache;
      roundedCache = b.cache;
    }
  });
});

describe('the aligner', () => {
  test.each([
    ['all layers', HEADS],
    ['the first layer alone', [[0, 0]] as const],
  ])('outputs the attention of the heads, of %s', async (_, wanted) => {
    const { tensors, cross } = await window();
    const aligner = await open(alignerGraph(weights, wanted, 'float32'));
    const { attention } = await aligner.run({ tokens: tokenInput(TOKENS), ...tensors }, ['attention']);
    const positions = cross[0]?.keys.length ?? 0;
    expect(attention.dims).toEqual([wanted.length, TOKENS.length, positions]);
    for (let row = 0; row < wanted.length * TOKENS.length; row++) {
      const sum = attention.data.subarray(row * positions, (row + 1) * positions).reduce((a, b) => a + b, 0);
      expect(sum).toBeCloseTo(1, 5);
    }
    const looked = decode(weights, cross, TOKENS).attention;
    const expected = wanted.flatMap(([layer, head]) => flat(looked[layer]?.[head] ?? []));
    expect(apart(attention.data, expected)).toBeLessThan(1e-5);
  });

  test('outputs the heads in the requested order', async () => {
    const { tensors } = await window();
    const order = [
      [1, 1],
      [0, 0],
      [1, 0],
    ] as const;
    const looked = async (heads: readonly (readonly [number, number])[]) => {
      const aligner = await open(alignerGraph(weights, heads, 'float32'));
      const { attention } = await aligner.run({ tokens: tokenInput(TOKENS), ...tensors }, ['attention']);
      return [...attention.data];
    };
    const alone = await Promise.all(order.map((head) => looked([head])));
    expect(apart(await looked(order), alone.flat())).toBe(0);
  });

  test('in int8 approximates float32', async () => {
    const { tensors } = await window();
    const [exact, rounded] = await Promise.all(
      (['float32', 'int8'] as const).map(async (arithmetic) => {
        const aligner = await open(alignerGraph(weights, HEADS, arithmetic));
        return (await aligner.run({ tokens: tokenInput(TOKENS), ...tensors }, ['attention'])).attention.data;
      }),
    );
    expect(relativeError(rounded ?? [], exact ?? [])).toBeLessThan(0.1);
  });
});
