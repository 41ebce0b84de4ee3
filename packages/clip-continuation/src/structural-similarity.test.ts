import { describe, expect, it } from 'vitest';
import { picture, shifted } from '../testing/moving-pictures.ts';
import { structuralSimilarity } from './structural-similarity.ts';

const SIZE = { width: 320, height: 180 };

describe('structuralSimilarity', () => {
  const a = picture(SIZE, shifted(0, 0));

  it('is 1 for identical pictures and lower with noise or motion', () => {
    const noisy = a.map((grey, at) => grey + ((at * 7919) % 13) - 6);
    const moved = picture(SIZE, shifted(6, 0));
    expect(structuralSimilarity(a, a, 320, 180)).toBe(1);
    expect(structuralSimilarity(a, noisy, 320, 180)).toBeLessThan(0.99);
    expect(structuralSimilarity(a, moved, 320, 180)).toBeLessThan(0.8);
  });

  it('of two uniform greys follows the formula', () => {
    const dark = new Uint8Array(64).fill(50);
    const light = new Uint8Array(64).fill(100);
    const c1 = 2.55 ** 2;
    expect(structuralSimilarity(dark, light, 8, 8)).toBeCloseTo(
      (2 * 50 * 100 + c1) / (50 ** 2 + 100 ** 2 + c1),
      9,
    );
  });
});
