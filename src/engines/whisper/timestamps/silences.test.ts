import { expect, it } from 'vitest';
import { seededRandom } from '../../../kit/math/seeded-random.ts';
import { pausesOf } from './silences.ts';

/** Noise at 16 kHz with the given levels and durations in seconds. */
function noise(
  ...stretches: readonly (readonly [seconds: number, amplitude: number])[]
): Float32Array<ArrayBuffer> {
  const random = seededRandom(7);
  const samples = stretches.flatMap(([seconds, amplitude]) =>
    Array.from({ length: seconds * 16_000 }, () => amplitude * (2 * random() - 1)),
  );
  return Float32Array.from(samples);
}

it('finds a pause with an accuracy of 20 ms', () => {
  const pauses = pausesOf(noise([1, 0.3], [0.5, 0.003], [1, 0.2], [0.1, 0.003], [1, 0.3]));
  expect(pauses).toHaveLength(1);
  expect(pauses[0]?.startS).toBeCloseTo(1, 5);
  expect(pauses[0]?.endS).toBeCloseTo(1.5, 5);
});

it('finds a pause at the end', () => {
  expect(pausesOf(noise([1, 0.3], [0.5, 0]))).toEqual([{ startS: 1, endS: 1.5 }]);
});

it('finds no pause without contrast, and none in empty audio', () => {
  expect(pausesOf(noise([1, 0.3], [0.5, 0.2], [1, 0.3]))).toEqual([]);
  expect(pausesOf(noise([2, 0]))).toEqual([]);
  expect(pausesOf(new Float32Array(0))).toEqual([]);
});
