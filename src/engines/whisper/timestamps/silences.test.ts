import { expect, it } from 'vitest';
import { seededRandom } from '../../../kit/math/seeded-random.ts';
import { pausesOf } from './silences.ts';

/** Noise at these levels, each for some seconds, 16 kHz. */
function noise(
  ...parts: readonly (readonly [seconds: number, amplitude: number])[]
): Float32Array<ArrayBuffer> {
  const random = seededRandom(7);
  const samples = parts.flatMap(([seconds, amplitude]) =>
    Array.from({ length: seconds * 16_000 }, () => amplitude * (2 * random() - 1)),
  );
  return Float32Array.from(samples);
}

it('finds where it is quiet, to 20 ms', () => {
  const pauses = pausesOf(noise([1, 0.3], [0.5, 0.003], [1, 0.2], [0.1, 0.003], [1, 0.3]));
  expect(pauses).toHaveLength(1);
  expect(pauses[0]?.startS).toBeCloseTo(1, 5);
  expect(pauses[0]?.endS).toBeCloseTo(1.5, 5);
});

it('finds one that lasts until the end', () => {
  expect(pausesOf(noise([1, 0.3], [0.5, 0]))).toEqual([{ startS: 1, endS: 1.5 }]);
});

it('finds none where speech and floor cannot be told apart, and none in nothing', () => {
  expect(pausesOf(noise([1, 0.3], [0.5, 0.2], [1, 0.3]))).toEqual([]);
  expect(pausesOf(noise([2, 0]))).toEqual([]);
  expect(pausesOf(new Float32Array(0))).toEqual([]);
});
