import { expect, test } from 'vitest';
import { seededRandom } from './seeded-random.ts';

test('the generator is uniform and depends on the seed', () => {
  const random = seededRandom(5);
  const drawn = Array.from({ length: 4_000 }, random);
  expect(drawn.every((value) => value >= 0 && value < 1)).toBe(true);
  expect(drawn.reduce((sum, value) => sum + value, 0) / drawn.length).toBeCloseTo(0.5, 1);
  expect(seededRandom(6)()).not.toBe(seededRandom(5)());
});
