/**
 * Where each part of one picture is in another: dense inverse search, after T. Kroeger, R. Timofte, D. Dai and
 * L. Van Gool, "Fast Optical Flow using Dense Inverse Search" (ECCV 2016). From the coarsest level of a pyramid to
 * the finest, overlapping patches are each moved to where they fit (inverse Lucas-Kanade, mean removed, so that a
 * change of light is no motion); in between, a median takes out what stands alone.
 */

import type { Luma } from './luma.ts';
import { emptyField, type Grid, type VectorField } from './vector-field.ts';

const PATCH = 8;
const STRIDE = 4;
const PIXELS = PATCH * PATCH;
const MAX_STEPS = 8;
/** A patch is where it should be when a step is shorter, in pixels of its level. */
const SMALL_STEP = 0.01;
/** Noise against which the gradients of a patch must stand: flat patches stay with what is around them. */
const NOISE = PIXELS;
/** A difference of so many grey values leaves little trust. */
const DOUBT = 6;

export interface Flow extends VectorField {
  /** 0–1: how well a node fits, smooth, as its motion is. */
  readonly fit: Float32Array;
  /** 0–1: how well it fits by itself, and how much there is to hold on to. */
  readonly trust: Float32Array;
}

/**
 * Measures the displacement of what is in `from` on its way to `to`.
 * @param from its pyramid, finest first; @param to of the same sizes.
 * @param factor pixels of the whole picture for one of the finest level.
 * @returns in pixels of the whole picture.
 */
export function denseFlow(from: readonly Luma[], to: readonly Luma[], factor: number): Flow {
  let found: LevelFlow | undefined;
  for (let level = from.length - 1; level >= 0; level--) {
    found = searchLevel(from[level] as Luma, to[level] as Luma, found);
  }
  if (!found) throw new RangeError('a pyramid needs a level');
  const { columns, rows, x, y, fit, trust } = found;
  for (let node = 0; node < x.length; node++) {
    x[node] = (x[node] as number) * factor;
    y[node] = (y[node] as number) * factor;
  }
  return { grid: gridOf(columns, rows, factor), x, y, fit, trust };
}

function gridOf(columns: number, rows: number, factor: number): Grid {
  // Pixel centres are whole numbers, so the centre of a patch lies half a pixel before its half.
  return { columns, rows, origin: (PATCH / 2) * factor - 0.5, step: STRIDE * factor };
}

const nodesOf = (side: number) => Math.max(2, Math.floor((side - PATCH) / STRIDE) + 1);

interface LevelFlow {
  readonly columns: number;
  readonly rows: number;
  readonly x: Float32Array;
  readonly y: Float32Array;
  readonly fit: Float32Array;
  readonly trust: Float32Array;
}

function searchLevel(from: Luma, to: Luma, coarser: LevelFlow | undefined): LevelFlow {
  const columns = nodesOf(from.width);
  const rows = nodesOf(from.height);
  const { x, y } = emptyField({ columns, rows, origin: 0, step: STRIDE });
  const fit = new Float32Array(columns * rows);
  const trust = new Float32Array(columns * rows);
  const patch = new Patch(from, to);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const node = row * columns + column;
      patch.take(column * STRIDE, row * STRIDE);
      patch.begin();
      if (coarser) {
        // A node of this level lies at half its place on the coarser one.
        const above = Math.min(coarser.rows - 1, Math.round((row - 0.5) / 2));
        const before = Math.min(coarser.columns - 1, Math.round((column - 0.5) / 2));
        const parent = Math.max(0, above) * coarser.columns + Math.max(0, before);
        patch.consider(2 * (coarser.x[parent] as number), 2 * (coarser.y[parent] as number));
      }
      if (column > 0) patch.consider(x[node - 1] as number, y[node - 1] as number);
      if (row > 0) patch.consider(x[node - columns] as number, y[node - columns] as number);
      patch.search();
      x[node] = patch.x;
      y[node] = patch.y;
      fit[node] = patch.fit();
      trust[node] = (fit[node] as number) * patch.hold();
    }
  }
  const flow = { columns, rows, x, y, fit, trust };
  return { ...flow, x: settled(x, flow), y: settled(y, flow), fit: settled(fit, flow) };
}

/** One patch of `from`, and where it is in `to`. Used again for each node, so that nothing is allocated there. */
class Patch {
  readonly #from: Luma;
  readonly #to: Luma;
  readonly #template = new Float32Array(PIXELS);
  readonly #gradientX = new Float32Array(PIXELS);
  readonly #gradientY = new Float32Array(PIXELS);
  readonly #error = new Float32Array(PIXELS);
  #left = 0;
  #top = 0;
  #xx = 0;
  #xy = 0;
  #yy = 0;
  #cost = 0;
  x = 0;
  y = 0;

  constructor(from: Luma, to: Luma) {
    this.#from = from;
    this.#to = to;
  }

  /** Reads the patch that begins at this pixel. */
  take(left: number, top: number): void {
    const { width, height, data } = this.#from;
    const template = this.#template;
    const gradientX = this.#gradientX;
    const gradientY = this.#gradientY;
    this.#left = left;
    this.#top = top;
    let meanX = 0;
    let meanY = 0;
    for (let j = 0, k = 0; j < PATCH; j++) {
      const row = Math.min(height - 1, top + j) * width;
      const above = Math.max(0, Math.min(height - 1, top + j - 1)) * width;
      const below = Math.min(height - 1, top + j + 1) * width;
      for (let i = 0; i < PATCH; i++, k++) {
        const at = Math.min(width - 1, left + i);
        const before = Math.max(0, at - 1);
        const after = Math.min(width - 1, at + 1);
        template[k] = data[row + at] as number;
        const gx = ((data[row + after] as number) - (data[row + before] as number)) / 2;
        const gy = ((data[below + at] as number) - (data[above + at] as number)) / 2;
        gradientX[k] = gx;
        gradientY[k] = gy;
        meanX += gx;
        meanY += gy;
      }
    }
    meanX /= PIXELS;
    meanY /= PIXELS;
    let xx = 0;
    let xy = 0;
    let yy = 0;
    for (let k = 0; k < PIXELS; k++) {
      const gx = (gradientX[k] as number) - meanX;
      const gy = (gradientY[k] as number) - meanY;
      gradientX[k] = gx;
      gradientY[k] = gy;
      xx += gx * gx;
      xy += gx * gy;
      yy += gy * gy;
    }
    this.#xx = xx;
    this.#xy = xy;
    this.#yy = yy;
  }

  /** Starts from where it was. */
  begin(): void {
    this.x = 0;
    this.y = 0;
    this.#cost = this.#compare(0, 0);
  }

  /** Starts from this displacement if it fits better. */
  consider(x: number, y: number): void {
    if (x === this.x && y === this.y) return;
    const cost = this.#compare(x, y);
    if (cost >= this.#cost) return;
    this.x = x;
    this.y = y;
    this.#cost = cost;
  }

  /** Moves it to where it fits. */
  search(): void {
    const gradientX = this.#gradientX;
    const gradientY = this.#gradientY;
    const error = this.#error;
    const xx = this.#xx + NOISE;
    const yy = this.#yy + NOISE;
    const determinant = xx * yy - this.#xy * this.#xy;
    const startX = this.x;
    const startY = this.y;
    let x = startX;
    let y = startY;
    this.#compare(x, y);
    for (let step = 0; step < MAX_STEPS; step++) {
      let bx = 0;
      let by = 0;
      for (let k = 0; k < PIXELS; k++) {
        const e = error[k] as number;
        bx += (gradientX[k] as number) * e;
        by += (gradientY[k] as number) * e;
      }
      const dx = (yy * bx - this.#xy * by) / determinant;
      const dy = (xx * by - this.#xy * bx) / determinant;
      x -= dx;
      y -= dy;
      // Farther than its own size it follows something else.
      if (Math.abs(x - startX) > PATCH || Math.abs(y - startY) > PATCH) return;
      const cost = this.#compare(x, y);
      if (cost >= this.#cost) return;
      this.#cost = cost;
      this.x = x;
      this.y = y;
      if (dx * dx + dy * dy < SMALL_STEP * SMALL_STEP) return;
    }
  }

  /** 0–1: how little it differs. */
  fit(): number {
    return Math.exp(-this.#cost / (PIXELS * DOUBT * DOUBT));
  }

  /** 0–1: how well its weaker direction is held, by the smaller eigenvalue. */
  hold(): number {
    const half = (this.#xx + this.#yy) / 2;
    const weaker = half - Math.hypot((this.#xx - this.#yy) / 2, this.#xy);
    return weaker / (weaker + NOISE);
  }

  /** Sum of squares of the differences to `to`, mean removed; leaves the differences. Outside is the border. */
  #compare(x: number, y: number): number {
    const { width, height, data } = this.#to;
    const template = this.#template;
    const error = this.#error;
    const atX = Math.max(-1e6, Math.min(1e6, this.#left + x));
    const atY = Math.max(-1e6, Math.min(1e6, this.#top + y));
    const left = Math.floor(atX);
    const top = Math.floor(atY);
    const fx = atX - left;
    const fy = atY - top;
    const w00 = (1 - fx) * (1 - fy);
    const w01 = fx * (1 - fy);
    const w10 = (1 - fx) * fy;
    const w11 = fx * fy;
    let sum = 0;
    let squares = 0;
    if (left >= 0 && top >= 0 && left + PATCH < width && top + PATCH < height) {
      for (let j = 0, k = 0; j < PATCH; j++) {
        let at = (top + j) * width + left;
        for (let i = 0; i < PATCH; i++, k++, at++) {
          const value =
            w00 * (data[at] as number) +
            w01 * (data[at + 1] as number) +
            w10 * (data[at + width] as number) +
            w11 * (data[at + width + 1] as number);
          const e = value - (template[k] as number);
          error[k] = e;
          sum += e;
          squares += e * e;
        }
      }
    } else {
      for (let j = 0, k = 0; j < PATCH; j++) {
        const row = clamped(top + j, height) * width;
        const below = clamped(top + j + 1, height) * width;
        for (let i = 0; i < PATCH; i++, k++) {
          const column = clamped(left + i, width);
          const next = clamped(left + i + 1, width);
          const value =
            w00 * (data[row + column] as number) +
            w01 * (data[row + next] as number) +
            w10 * (data[below + column] as number) +
            w11 * (data[below + next] as number);
          const e = value - (template[k] as number);
          error[k] = e;
          sum += e;
          squares += e * e;
        }
      }
    }
    return squares - (sum * sum) / PIXELS;
  }
}

const clamped = (place: number, side: number) => Math.max(0, Math.min(side - 1, place));

/** Medians of nine, then means of what is trusted: nodes without texture take what is around them. */
function settled(values: Float32Array, { columns, rows, trust }: LevelFlow): Float32Array {
  const medians = new Float32Array(values.length);
  const nine = new Float32Array(9);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      let n = 0;
      for (let j = -1; j <= 1; j++) {
        const line = clamped(row + j, rows) * columns;
        for (let i = -1; i <= 1; i++) nine[n++] = values[line + clamped(column + i, columns)] as number;
      }
      nine.sort();
      medians[row * columns + column] = nine[4] as number;
    }
  }
  const means = new Float32Array(values.length);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      let sum = 0;
      let weights = 0;
      for (let j = -1; j <= 1; j++) {
        const line = clamped(row + j, rows) * columns;
        for (let i = -1; i <= 1; i++) {
          const node = line + clamped(column + i, columns);
          const weight = (trust[node] as number) + 0.01;
          sum += weight * (medians[node] as number);
          weights += weight;
        }
      }
      means[row * columns + column] = sum / weights;
    }
  }
  return means;
}
