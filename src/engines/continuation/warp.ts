/** Pictures of which every pixel is taken from elsewhere. */

import type { VectorField } from './vector-field.ts';

/** Fractions of a pixel that are told apart. */
const PHASES = 64;
/** Catmull-Rom: passes through the pixels, and blurs less than straight lines between them. */
const CUBIC = cubicWeights();

/** Of pictures in I420: planes of 8 bits, Y, U and V one after the other, the last two of half the sides, which are even. */
export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/**
 * Makes a picture: each pixel is what `from` has at its own place plus the displacement. Beyond the border the picture
 * is mirrored. Light is interpolated by cubics, colour linearly.
 * @param into of the same size, not `from` itself.
 */
export function warp(from: Uint8Array, size: PictureSize, back: VectorField, into: Uint8Array): void {
  const { width, height } = size;
  const luma = width * height;
  const u = luma;
  const v = luma + luma / 4;
  const line = new Displacements(back, width);
  for (let y = 0; y < height; y++) {
    line.take(y);
    cubicLine(from, width, height, line, y, into);
    if (y % 2 === 1) continue;
    linearLine(from, u, width >> 1, height >> 1, line, y >> 1, into);
    linearLine(from, v, width >> 1, height >> 1, line, y >> 1, into);
  }
}

/** Mixes a picture into another: `into` becomes `(1 - share) into + share other`. */
export function mix(into: Uint8Array, other: Uint8Array, share: number): void {
  const part = Math.round(share * 256);
  for (let at = 0; at < into.length; at++) {
    const here = into[at] as number;
    into[at] = here + ((((other[at] as number) - here) * part + 128) >> 8);
  }
}

/** The displacements of one row of pixels, in phases. */
class Displacements {
  readonly #field: VectorField;
  /** Of each column: the node on its left, and how far it lies towards the next. */
  readonly #left: Int32Array;
  readonly #share: Float32Array;
  readonly #nodesX: Float32Array;
  readonly #nodesY: Float32Array;
  readonly x: Int32Array;
  readonly y: Int32Array;

  constructor(field: VectorField, width: number) {
    this.#field = field;
    this.#nodesX = new Float32Array(field.grid.columns);
    this.#nodesY = new Float32Array(field.grid.columns);
    const { columns, origin, step } = field.grid;
    this.#left = new Int32Array(width);
    this.#share = new Float32Array(width);
    for (let column = 0; column < width; column++) {
      const place = Math.max(0, Math.min(columns - 1, (column - origin) / step));
      this.#left[column] = Math.min(columns - 2, Math.floor(place));
      this.#share[column] = place - (this.#left[column] as number);
    }
    this.x = new Int32Array(width);
    this.y = new Int32Array(width);
  }

  take(row: number): void {
    const { x: outX, y: outY } = this;
    const { grid, x, y } = this.#field;
    const { columns, rows, origin, step } = grid;
    const nodesX = this.#nodesX;
    const nodesY = this.#nodesY;
    const place = Math.min(rows - 1, Math.max(0, (row - origin) / step));
    const top = Math.min(rows - 2, Math.floor(place));
    const down = place - top;
    for (let column = 0, above = top * columns, below = above + columns; column < columns; column++) {
      const fromX = x[above + column] as number;
      const fromY = y[above + column] as number;
      nodesX[column] = PHASES * (fromX + down * ((x[below + column] as number) - fromX));
      nodesY[column] = PHASES * (fromY + down * ((y[below + column] as number) - fromY));
    }
    for (let column = 0; column < outX.length; column++) {
      const node = this.#left[column] as number;
      const share = this.#share[column] as number;
      const fromX = nodesX[node] as number;
      const fromY = nodesY[node] as number;
      outX[column] = Math.floor(fromX + share * ((nodesX[node + 1] as number) - fromX) + 0.5);
      outY[column] = Math.floor(fromY + share * ((nodesY[node + 1] as number) - fromY) + 0.5);
    }
  }
}

/** A row of light. Whole numbers throughout: weights sum to 256 in each direction. */
function cubicLine(
  from: Uint8Array,
  width: number,
  height: number,
  { x: dx, y: dy }: Displacements,
  row: number,
  into: Uint8Array,
): void {
  for (let column = 0, to = row * width; column < width; column++, to++) {
    const x = (column * PHASES + (dx[column] as number)) | 0;
    const y = (row * PHASES + (dy[column] as number)) | 0;
    const left = x >> 6;
    const top = y >> 6;
    const px = (x & 63) << 2;
    const py = (y & 63) << 2;
    const x0 = CUBIC[px] as number;
    const x1 = CUBIC[px + 1] as number;
    const x2 = CUBIC[px + 2] as number;
    const x3 = CUBIC[px + 3] as number;
    let c0 = left - 1;
    let c1 = left;
    let c2 = left + 1;
    let c3 = left + 2;
    let r0 = top - 1;
    let r1 = top;
    let r2 = top + 1;
    let r3 = top + 2;
    if (c0 < 0 || r0 < 0 || c3 >= width || r3 >= height) {
      c0 = mirrored(c0, width);
      c1 = mirrored(c1, width);
      c2 = mirrored(c2, width);
      c3 = mirrored(c3, width);
      r0 = mirrored(r0, height);
      r1 = mirrored(r1, height);
      r2 = mirrored(r2, height);
      r3 = mirrored(r3, height);
    }
    r0 *= width;
    r1 *= width;
    r2 *= width;
    r3 *= width;
    const a =
      Math.imul(x0, from[r0 + c0] as number) +
      Math.imul(x1, from[r0 + c1] as number) +
      Math.imul(x2, from[r0 + c2] as number) +
      Math.imul(x3, from[r0 + c3] as number);
    const b =
      Math.imul(x0, from[r1 + c0] as number) +
      Math.imul(x1, from[r1 + c1] as number) +
      Math.imul(x2, from[r1 + c2] as number) +
      Math.imul(x3, from[r1 + c3] as number);
    const c =
      Math.imul(x0, from[r2 + c0] as number) +
      Math.imul(x1, from[r2 + c1] as number) +
      Math.imul(x2, from[r2 + c2] as number) +
      Math.imul(x3, from[r2 + c3] as number);
    const d =
      Math.imul(x0, from[r3 + c0] as number) +
      Math.imul(x1, from[r3 + c1] as number) +
      Math.imul(x2, from[r3 + c2] as number) +
      Math.imul(x3, from[r3 + c3] as number);
    const sum =
      Math.imul(CUBIC[py] as number, a) +
      Math.imul(CUBIC[py + 1] as number, b) +
      Math.imul(CUBIC[py + 2] as number, c) +
      Math.imul(CUBIC[py + 3] as number, d);
    const light = (sum + 32_768) >> 16;
    into[to] = Math.max(0, Math.min(255, light));
  }
}

/**
 * A row of one colour plane, which begins at `plane`. Its displacements are those of the light on its left and above:
 * half a pixel off, which no field tells apart.
 */
function linearLine(
  from: Uint8Array,
  plane: number,
  width: number,
  height: number,
  { x: dx, y: dy }: Displacements,
  row: number,
  into: Uint8Array,
): void {
  for (let column = 0, to = plane + row * width; column < width; column++, to++) {
    const x = (column * PHASES + ((dx[2 * column] as number) >> 1)) | 0;
    const y = (row * PHASES + ((dy[2 * column] as number) >> 1)) | 0;
    let left = x >> 6;
    let right = left + 1;
    let above = y >> 6;
    let below = above + 1;
    if (left < 0 || above < 0 || right >= width || below >= height) {
      left = mirrored(left, width);
      right = mirrored(right, width);
      above = mirrored(above, height);
      below = mirrored(below, height);
    }
    const fx = x & 63;
    const fy = y & 63;
    above = plane + above * width;
    below = plane + below * width;
    const top =
      Math.imul(from[above + left] as number, 64 - fx) + Math.imul(from[above + right] as number, fx);
    const bottom =
      Math.imul(from[below + left] as number, 64 - fx) + Math.imul(from[below + right] as number, fx);
    into[to] = (Math.imul(top, 64 - fy) + Math.imul(bottom, fy) + 2048) >> 12;
  }
}

/** A place inside: the picture goes on as its mirror image, again and again. */
function mirrored(place: number, side: number): number {
  if (place >= 0 && place < side) return place;
  const period = 2 * side;
  const turn = ((place % period) + period) % period;
  return turn < side ? turn : period - 1 - turn;
}

function cubicWeights(): Int16Array {
  const weights = new Int16Array(4 * PHASES);
  for (let phase = 0; phase < PHASES; phase++) {
    const t = phase / PHASES;
    const w0 = Math.round(128 * (-t + 2 * t * t - t * t * t));
    const w2 = Math.round(128 * (t + 4 * t * t - 3 * t * t * t));
    const w3 = Math.round(128 * (-t * t + t * t * t));
    weights.set([w0, 256 - w0 - w2 - w3, w2, w3], 4 * phase);
  }
  return weights;
}
