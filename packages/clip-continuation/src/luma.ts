/** Luma planes at reduced resolutions, on which motion is measured. */

/** A luma plane with values 0–255 in row-major order. */
export interface Luma {
  readonly width: number;
  readonly height: number;
  readonly data: Float32Array;
}

/** Minimum side of a pyramid level in pixels. */
const MIN_SIDE = 20;

/**
 * Averages blocks of `factor` × `factor` pixels. Incomplete blocks at the right and bottom are dropped.
 * @param luma a full-resolution plane in row-major order.
 */
export function downscale(luma: Uint8Array, width: number, height: number, factor: number): Luma {
  const columns = Math.floor(width / factor);
  const rows = Math.floor(height / factor);
  const data = new Float32Array(columns * rows);
  const share = 1 / (factor * factor);
  for (let row = 0; row < rows; row++) {
    const to = row * columns;
    for (let line = 0; line < factor; line++) {
      let at = (row * factor + line) * width;
      for (let column = 0; column < columns; column++) {
        let sum = 0;
        for (let end = at + factor; at < end; at++) sum += luma[at] as number;
        data[to + column] = (data[to + column] as number) + sum * share;
      }
    }
  }
  return { width: columns, height: rows, data };
}

/** Pyramid of the picture, each level with half the resolution of the one before, finest first. */
export function pyramid(finest: Luma): readonly Luma[] {
  const levels = [finest];
  for (let last = finest; Math.min(last.width, last.height) >= 2 * MIN_SIDE; ) {
    last = halve(last);
    levels.push(last);
  }
  return levels;
}

/** Mean absolute difference of two pictures of the same size, in grey levels. */
export function meanDifference(a: Luma, b: Luma): number {
  let sum = 0;
  for (let at = 0; at < a.data.length; at++) {
    sum += Math.abs((a.data[at] as number) - (b.data[at] as number));
  }
  return sum / a.data.length;
}

function halve({ width, height, data }: Luma): Luma {
  const columns = width >> 1;
  const rows = height >> 1;
  const half = new Float32Array(columns * rows);
  for (let row = 0; row < rows; row++) {
    let at = 2 * row * width;
    for (let to = row * columns, end = to + columns; to < end; to++, at += 2) {
      const above = (data[at] as number) + (data[at + 1] as number);
      const below = (data[at + width] as number) + (data[at + width + 1] as number);
      half[to] = (above + below) / 4;
    }
  }
  return { width: columns, height: rows, data: half };
}
