import { describe, expect, it } from 'vitest';
import { emptyField, type VectorField } from '../src/vector-field.ts';
import type { Warp } from '../src/warp.ts';
import { picture, shifted, turned } from './moving-pictures.ts';

const SIZE = { width: 320, height: 180 };
const GRID = { columns: 40, rows: 23, origin: 3.5, step: 8 };
const LUMA = SIZE.width * SIZE.height;

function field(at: (x: number, y: number) => readonly [number, number]): VectorField {
  const made = emptyField(GRID);
  for (let node = 0; node < made.x.length; node++) {
    const x = GRID.origin + GRID.step * (node % GRID.columns);
    const y = GRID.origin + GRID.step * Math.floor(node / GRID.columns);
    const [fromX, fromY] = at(x, y);
    made.x[node] = fromX - x;
    made.y[node] = fromY - y;
  }
  return made;
}

function warped(warp: Warp, from: Uint8Array, back: VectorField): Uint8Array {
  const into = new Uint8Array(from.length);
  warp(from, SIZE, back, into);
  return into;
}

/** Mean absolute difference without the border, in grey levels, of luma (0) or the first chroma plane (1). */
function apart(a: Uint8Array, b: Uint8Array, plane: 0 | 1, margin: number): number {
  const width = SIZE.width >> plane;
  const height = SIZE.height >> plane;
  let sum = 0;
  let pixels = 0;
  for (let y = margin; y < height - margin; y++) {
    for (let x = margin; x < width - margin; x++, pixels++) {
      const at = plane * LUMA + y * width + x;
      sum += Math.abs((a[at] ?? 0) - (b[at] ?? 0));
    }
  }
  return sum / pixels;
}

/** Contract of a warp. */
export function warpCases(name: string, warp: Warp): void {
  describe(name, () => {
    const still = picture(SIZE, shifted(0, 0));

    it('returns an identical picture for zero displacements', () => {
      expect(warped(warp, still, emptyField(GRID))).toEqual(still);
    });

    it.each([
      ['a shift', shifted(7.3, -4.6)],
      ['a turn', turned(SIZE, 0.05)],
      ['a zoom', turned(SIZE, 0, 1.08)],
    ])('renders %s in luma and chroma', (_, view) => {
      const made = warped(warp, still, field(view));
      const true_ = picture(SIZE, view);
      expect(apart(made, true_, 0, 12)).toBeLessThan(0.6);
      expect(apart(made, true_, 1, 6)).toBeLessThan(0.6);
    });

    it('mirrors the picture beyond its border', () => {
      const made = warped(warp, still, field(shifted(10, 0)));
      for (const y of [0, 90, 179]) {
        for (const x of [0, 4, 9]) expect(made[y * 320 + x]).toBe(still[y * 320 + (9 - x)]);
      }
    });

    it('stays within the buffer for huge displacements', () => {
      const made = warped(warp, still, field(shifted(1e5 + 0.5, -3e4)));
      expect(Math.min(...made.subarray(0, LUMA))).toBeGreaterThan(0);
    });
  });
}
