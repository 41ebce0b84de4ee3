import { expect, test } from 'vitest';
import { samplePlanes } from './sample-planes.ts';

const bytes = (values: ArrayBufferView) => new Uint8Array(values.buffer);

test.each([
  ['u8', bytes(Uint8Array.of(128, 0, 192, 64))],
  ['s16', bytes(Int16Array.of(0, -32_768, 16_384, -16_384))],
  ['s32', bytes(Int32Array.of(0, -(2 ** 31), 2 ** 30, -(2 ** 30)))],
  ['s64', bytes(BigInt64Array.of(0n, -(2n ** 63n), 2n ** 62n, -(2n ** 62n)))],
  ['flt', bytes(Float32Array.of(0, -1, 0.5, -0.5))],
  ['dbl', bytes(Float64Array.of(0, -1, 0.5, -0.5))],
])('%s, interleaved and planar', (format, data) => {
  const planes = samplePlanes([data], format, 2, 2);
  expect(planes.map((plane) => [...plane])).toEqual([
    [0, 0.5],
    [-1, -0.5],
  ]);
  const half = data.length / 2;
  const planar = samplePlanes([data.slice(0, half), data.slice(half)], `${format}p`, 2, 2);
  expect(planar.map((plane) => [...plane])).toEqual([
    [0, -1],
    [0.5, -0.5],
  ]);
});

test('an unknown format and missing data are errors', () => {
  expect(() => samplePlanes([new Uint8Array(8)], 's24', 1, 2)).toThrow(RangeError);
  expect(() => samplePlanes([new Uint8Array(8)], 'fltp', 2, 2)).toThrow(RangeError);
  expect(() => samplePlanes([new Uint8Array(4)], 'flt', 1, 2)).toThrow(RangeError);
});
