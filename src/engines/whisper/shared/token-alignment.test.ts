import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../../kit/math/seeded-random.ts';
import { type Attention, alignTokens } from './token-alignment.ts';

/** Attention of two heads in which row `r` attends to the frames from `begins[r]` to the start of the next row. */
function looking(begins: readonly number[], frames: number, noise = 0.02): Attention {
  const heads = 2;
  const rows = begins.length;
  const random = seededRandom(9);
  const data = new Float32Array(heads * rows * frames);
  for (let index = 0; index < data.length; index++) {
    const row = Math.floor(index / frames) % rows;
    const frame = index % frames;
    const inside = frame >= (begins[row] ?? 0) && frame < (begins[row + 1] ?? frames);
    data[index] = (inside ? 1 : 0) + noise * random();
  }
  return { data, heads, rows, frames };
}

describe('alignment', () => {
  test('finds the start frame of each row', () => {
    const begins = [0, 12, 30, 31, 55];
    const found = alignTokens(looking(begins, 80), 0, 80);
    expect(found.length).toBe(5);
    for (const [row, begin] of begins.entries())
      expect(Math.abs((found[row] ?? -9) - begin)).toBeLessThanOrEqual(4);
  });

  test('uses rows before the first for the mean and does not align them', () => {
    const all = looking([0, 0, 0, 20, 40], 60);
    const found = alignTokens(all, 2, 60);
    expect(found.length).toBe(3);
    expect(found[0]).toBe(0);
    expect(Math.abs((found[2] ?? 0) - 40)).toBeLessThanOrEqual(3);
  });

  test('ignores padding, regardless of its attention', () => {
    const attention = looking([0, 15, 30], 100);
    const drawn = {
      ...attention,
      data: attention.data.map((value, index) => (index % 100 >= 45 ? 50 : value)),
    };
    expect(alignTokens(drawn, 0, 45)).toEqual(alignTokens(attention, 0, 45));
  });

  test('is monotonic and within the audio for any attention', () => {
    const random = seededRandom(1);
    const cases: Float32Array[] = [
      Float32Array.from({ length: 3 * 9 * 40 }, random),
      new Float32Array(3 * 9 * 40),
      new Float32Array(3 * 9 * 40).fill(Number.NaN),
    ];
    for (const data of cases) {
      for (const realFrames of [1, 2, 3, 4, 7, 40]) {
        const found = [...alignTokens({ data, heads: 3, rows: 9, frames: 40 }, 1, realFrames)];
        expect(found).toEqual(found.toSorted((a, b) => a - b));
        expect(found[0]).toBe(0);
        expect(found.at(-1)).toBeLessThan(realFrames);
      }
    }
  });
});
