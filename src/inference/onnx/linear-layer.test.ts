import { beforeEach, describe, expect, test } from 'vitest';
import { needsArithmetic } from '../../../test/harness/arithmetic.ts';
import { openGraph } from '../runtime/runtime.ts';
import { GraphBuilder } from './graph-builder.ts';
import { type LinearArithmetic, type LinearLayer, linearLayer, rowwiseLinearLayer } from './linear-layer.ts';
import { encodeModel } from './onnx-proto.ts';

const INPUTS = 48;
const OUTPUTS = 20;

/** Reproducible numbers in -1…1 (a sine of large steps is irregular enough here). */
const wave = (length: number, seed: number) =>
  Float32Array.from({ length }, (_, i) => Math.sin(seed + i * 12.9898));

/** Outputs of very different magnitude, including zero. */
const layer: LinearLayer = {
  outputs: OUTPUTS,
  inputs: INPUTS,
  weight: wave(OUTPUTS * INPUTS, 1).map((value, i) => value * ([1, 0.01, 0, 30][(i / INPUTS) & 3] ?? 0)),
  bias: wave(OUTPUTS, 2),
};

/** The definition, in float64. */
function product(x: Float32Array, { weight, bias }: LinearLayer): Float64Array {
  const rows = x.length / INPUTS;
  return Float64Array.from({ length: rows * OUTPUTS }, (_, index) => {
    const [row, o] = [Math.floor(index / OUTPUTS), index % OUTPUTS];
    let sum = bias?.[o] ?? 0;
    for (let i = 0; i < INPUTS; i++) sum += (x[row * INPUTS + i] ?? 0) * (weight[o * INPUTS + i] ?? 0);
    return sum;
  });
}

type Append = typeof linearLayer;

async function run(
  append: Append,
  arithmetic: LinearArithmetic,
  x: Float32Array,
  leading: readonly number[] = [x.length / INPUTS],
  of = layer,
) {
  const g = new GraphBuilder('linear');
  const dims = leading.map((_, i) => `d${i}`);
  g.output('y', append(g, g.input('x', [...dims, INPUTS]), of, arithmetic));
  const opsetImport = [{ version: 20 }, { domain: 'com.microsoft', version: 1 }];
  const bytes = encodeModel({ irVersion: 9, producerName: 'test', opsetImport, graph: g.build() });
  const session = await openGraph(bytes, { provider: 'cpu', threads: 1 });
  const { y } = await session.run({ x: { type: 'float32', dims: [...leading, INPUTS], data: x } }, ['y']);
  await session.close();
  return y;
}

/**
 * The maximum error of each row, relative to the product of its peak, the peak weight of the output and the square root
 * of the number of inputs.
 */
function errors(actual: Float32Array, x: Float32Array, of = layer): number[] {
  const expected = product(x, of);
  return Array.from({ length: x.length / INPUTS }, (_, row) => {
    const peak = Math.max(...x.subarray(row * INPUTS, (row + 1) * INPUTS).map(Math.abs));
    let worst = 0;
    for (let o = 0; o < OUTPUTS; o++) {
      const weightPeak = Math.max(...of.weight.subarray(o * INPUTS, (o + 1) * INPUTS).map(Math.abs));
      const range = peak * weightPeak * Math.sqrt(INPUTS) + 1e-6;
      const index = row * OUTPUTS + o;
      worst = Math.max(worst, Math.abs((actual[index] ?? Number.NaN) - (expected[index] ?? 0)) / range);
    }
    return worst;
  });
}

/** Upper bounds of the sum of rounding errors of half a step in inputs and weights with random signs. */
const BOUNDS: [LinearArithmetic, number][] = [
  ['float32', 1e-6],
  ['float16', 0.002],
  ['int8', 0.01],
  ['uint8', 0.01],
];
const forms = { linearLayer, rowwiseLinearLayer };

describe.each(BOUNDS)('%s', (arithmetic, bound) => {
  beforeEach((context) => needsArithmetic(context, arithmetic));

  describe.each(Object.entries(forms))('%s', (_, append) => {
    test('equals the definition for outputs of any magnitude', async () => {
      const x = wave(7 * INPUTS, 3);
      const y = await run(append, arithmetic, x);
      expect(y.dims).toEqual([7, OUTPUTS]);
      expect(Math.max(...errors(y.data, x))).toBeLessThan(bound);
    });

    test('keeps leading dimensions', async () => {
      const x = wave(12 * INPUTS, 4);
      const flat = await run(append, arithmetic, x);
      for (const leading of [
        [1, 12],
        [3, 4],
        [2, 3, 2],
      ]) {
        const y = await run(append, arithmetic, x, leading);
        expect(y.dims).toEqual([...leading, OUTPUTS]);
        expect(y.data).toEqual(flat.data);
      }
    });

    test('returns the bias for rows of zeros', async () => {
      const y = await run(append, arithmetic, new Float32Array(2 * INPUTS));
      expect([...y.data]).toEqual([...(layer.bias ?? []), ...(layer.bias ?? [])]);
    });

    test('works without a bias', async () => {
      const x = wave(3 * INPUTS, 5);
      const bare = { ...layer, bias: undefined };
      const y = await run(append, arithmetic, x, [3], bare);
      expect(Math.max(...errors(y.data, x, bare))).toBeLessThan(bound);
    });
  });

  test('row-wise: quiet rows keep their precision next to a loud row', async () => {
    const loudness = [1, 1e-3, 0, 300, 0.05];
    const x = wave(loudness.length * INPUTS, 6).map(
      (value, i) => value * (loudness[Math.floor(i / INPUTS)] ?? 0),
    );
    const bare = { ...layer, bias: undefined };
    const y = await run(rowwiseLinearLayer, arithmetic, x, [loudness.length], bare);
    for (const error of errors(y.data, x, bare)) expect(error).toBeLessThan(bound);
  });
});

test('a common scale for all rows loses the quiet rows', async () => {
  const x = wave(2 * INPUTS, 7).map((value, i) => value * (i < INPUTS ? 300 : 0.05));
  const bare = { ...layer, bias: undefined };
  const y = await run(linearLayer, 'int8', x, [2], bare);
  expect(errors(y.data, x, bare)[1]).toBeGreaterThan(0.1);
});
