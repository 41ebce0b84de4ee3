import { FieldSampler } from '../src/vector-field.ts';
import type { Warp } from '../src/warp.ts';

/** Weights of four pixels at a position between the middle two (Catmull-Rom). */
function cubicWeights(t: number): readonly number[] {
  const w0 = (-t + 2 * t * t - t * t * t) / 2;
  const w2 = (t + 4 * t * t - 3 * t * t * t) / 2;
  const w3 = (-t * t + t * t * t) / 2;
  return [w0, 1 - w0 - w2 - w3, w2, w3];
}

/** Maps a position into the picture by repeated mirroring at its borders. */
function mirrored(position: number, side: number): number {
  const turn = ((position % (2 * side)) + 2 * side) % (2 * side);
  return turn < side ? turn : 2 * side - 1 - turn;
}

/** A warp in TypeScript for tests: all planes with cubics, without the speed of a native one. */
export const referenceWarp: Warp = (from, { width, height }, displacements, into) => {
  const sampler = new FieldSampler(displacements);
  let start = 0;
  for (const scale of [1, 2, 2]) {
    const [columns, rows] = [width / scale, height / scale];
    for (let y = 0; y < rows; y++) {
      for (let x = 0; x < columns; x++) {
        // The position of the pixel in the full picture.
        sampler.sample(scale * x + (scale - 1) / 2, scale * y + (scale - 1) / 2);
        const [fromX, fromY] = [x + sampler.x / scale, y + sampler.y / scale];
        const [left, top] = [Math.floor(fromX), Math.floor(fromY)];
        const [byX, byY] = [cubicWeights(fromX - left), cubicWeights(fromY - top)];
        let light = 0;
        for (let row = 0; row < 4; row++) {
          const line = start + mirrored(top - 1 + row, rows) * columns;
          for (let column = 0; column < 4; column++) {
            const pixel = from[line + mirrored(left - 1 + column, columns)] as number;
            light += (byY[row] as number) * (byX[column] as number) * pixel;
          }
        }
        into[start + y * columns + x] = Math.min(255, Math.max(0, Math.round(light)));
      }
    }
    start += columns * rows;
  }
};
