import { describe, expect, test } from 'vitest';
import { needsArithmetic } from '../../../test/harness/arithmetic.ts';
import { openGraph } from '../runtime/runtime.ts';
import { type Arithmetic, convolutionProduct } from './convolution-product.ts';
import { GraphBuilder } from './graph-builder.ts';
import { DataType, encodeModel } from './onnx-proto.ts';
import type { QuantizedLayer } from './rewrite.ts';
import { floatTensor } from './tensors.ts';

const TIME = 37;
const INPUTS = 5;
const OUTPUTS = 3;
const ZERO_POINT = 61;
const SCALE = 0.02;

/** Reproducible numbers in -1…1 (a sine of large steps is irregular enough here). */
const wave = (length: number, seed: number) =>
  Float32Array.from({ length }, (_, i) => Math.sin(seed + i * 12.9898) * 0.9);

function layerWith(taps: number): {
  layer: QuantizedLayer;
  weight: (o: number, i: number, k: number) => number;
} {
  const q = Uint8Array.from({ length: OUTPUTS * INPUTS * taps }, (_, i) => (i * 89 + 7) % 256);
  const layer: QuantizedLayer = {
    input: 'x',
    output: 'y',
    weight: { name: 'w', dims: [OUTPUTS, INPUTS, taps], dataType: DataType.UINT8, rawData: q },
    scale: floatTensor('scale', [], Float32Array.of(SCALE)),
    zeroPoint: { name: 'zero', dims: [], dataType: DataType.UINT8, rawData: Uint8Array.of(ZERO_POINT) },
    channelAxis: 0,
    bias: Float32Array.of(0.5, -0.25, 0),
  };
  const weight = (o: number, i: number, k: number) =>
    ((q[(o * INPUTS + i) * taps + k] ?? 0) - ZERO_POINT) * SCALE;
  return { layer, weight };
}

/** The definition of a convolution, in float64. */
function convolve(
  x: Float32Array,
  taps: number,
  dilation: number,
  layer: QuantizedLayer,
  weight: (o: number, i: number, k: number) => number,
) {
  const y = new Float64Array(TIME * OUTPUTS);
  const margin = ((taps - 1) / 2) * dilation;
  for (let t = 0; t < TIME; t++) {
    for (let o = 0; o < OUTPUTS; o++) {
      let sum = layer.bias?.[o] ?? 0;
      for (let k = 0; k < taps; k++) {
        const time = t + k * dilation - margin;
        if (time < 0 || time >= TIME) continue;
        for (let i = 0; i < INPUTS; i++) sum += (x[time * INPUTS + i] ?? 0) * weight(o, i, k);
      }
      y[t * OUTPUTS + o] = sum;
    }
  }
  return y;
}

describe('convolutionProduct', () => {
  // Float16 products have 11 significant bits; integer products have the 8 bits of the quantised input.
  const forms: [Arithmetic, number][] = [
    ['int8', 0.05],
    ['uint8', 0.05],
    ['float16', 0.01],
  ];
  const shapes = [
    { taps: 1, dilation: 1 },
    { taps: 3, dilation: 1 },
    { taps: 7, dilation: 3 },
  ];
  for (const [arithmetic, tolerance] of forms) {
    test.for(shapes)(
      `${arithmetic} equals the definition, $taps taps, dilation $dilation`,
      async ({ taps, dilation }, context) => {
        needsArithmetic(context, arithmetic);
        const { layer, weight } = layerWith(taps);
        const g = new GraphBuilder('convolution');
        g.output('y', convolutionProduct(g, g.input('x', [1, 'time', INPUTS]), layer, dilation, arithmetic));
        const opsetImport = [{ version: 20 }, { domain: 'com.microsoft', version: 1 }];
        const bytes = encodeModel({ irVersion: 9, producerName: 'test', opsetImport, graph: g.build() });
        const session = await openGraph(bytes, { provider: 'cpu', threads: 1 });
        const x = wave(TIME * INPUTS, taps);
        const { y } = await session.run({ x: { type: 'float32', dims: [1, TIME, INPUTS], data: x } }, ['y']);
        await session.close();
        const expected = convolve(x, taps, dilation, layer, weight);
        expect(y.dims).toEqual([1, TIME, OUTPUTS]);
        expect(
          Math.max(...expected.map((value, i) => Math.abs(value - (y.data[i] ?? Number.NaN)))),
        ).toBeLessThan(tolerance * Math.max(1, taps / 2));
      },
    );
  }
});
