/**
 * Dense optical flow by dense inverse search, after T. Kroeger, R. Timofte, D. Dai and L. Van Gool, "Fast Optical Flow
 * using Dense Inverse Search" (ECCV 2016). On each level of a pyramid, from coarse to fine, overlapping patches are aligned
 * by inverse Lucas-Kanade with the mean removed, so that a change of brightness is not measured as motion. A median filter
 * removes outliers between the levels.
 */

import type { Luma } from './luma.ts';
import { emptyField, type Grid, type VectorField } from './vector-field.ts';

const PATCH = 8;
const STRIDE = 4;
const PIXELS = PATCH * PATCH;
const MAX_STEPS = 8;
/** The search converges when a step is shorter, in pixels of the level. */
const CONVERGED_STEP = 0.01;
/** Regularization against noise: patches without texture keep the motion of their neighbours. */
const NOISE = PIXELS;
/** Root-mean-square difference in grey levels at which the fit is 1/e. */
const FIT_SCALE = 6;

export interface Flow extends VectorField {
  /** Quality of the match of each node, 0–1, smoothed like the motion. */
  readonly fit: Float32Array;
  /** Confidence of each node, 0–1: unsmoothed fit multiplied by the amount of texture. */
  readonly trust: Float32Array;
}

/**
 * Measures the displacement from the picture `from` to the picture `to`.
 * @param from pyramid, finest level first.
 * @param to pyramid with the same sizes.
 * @param factor pixels of the full picture per pixel of the finest level.
 * @returns displacements in pixels of the full picture.
 * @throws RangeError for an empty pyramid.
 */
export function denseFlow(from: readonly Luma[], to: readonly Luma[], factor: number): Flow {
  let flow: LevelFlow | undefined;
  for (let level = from.length - 1; level >= 0; level--) {
    flow = searchLevel(from[level] as Luma, to[level] as Luma, flow);
  }
  if (!flow) throw new RangeError('a pyramid needs at least one level');
  const { columns, rows, x, y, fit, trust } = flow;
  for (let node = 0; node < x.length; node++) {
    x[node] = (x[node] as number) * factor;
    y[node] = (y[node] as number) * factor;
  }
  return { grid: gridOf(columns, rows, factor), x, y, fit, trust };
}

function gridOf(columns: number, rows: number, factor: number): Grid {
  // Pixel centres have integer coordinates, so the centre of a patch is half a pixel before its half length.
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
      patch.load(column * STRIDE, row * STRIDE);
      patch.reset();
      if (coarser) {
        // Positions on the coarser level are half of those on this level.
        const above = Math.min(coarser.rows - 1, Math.round((row - 0.5) / 2));
        const before = Math.min(coarser.columns - 1, Math.round((column - 0.5) / 2));
        const parent = Math.max(0, above) * coarser.columns + Math.max(0, before);
        patch.tryDisplacement(2 * (coarser.x[parent] as number), 2 * (coarser.y[parent] as number));
      }
      if (column > 0) patch.tryDisplacement(x[node - 1] as number, y[node - 1] as number);
      if (row > 0) patch.tryDisplacement(x[node - columns] as number, y[node - columns] as number);
      patch.refine();
      x[node] = patch.x;
      y[node] = patch.y;
      fit[node] = patch.fit();
      trust[node] = (fit[node] as number) * patch.texture();
    }
  }
  const flow = { columns, rows, x, y, fit, trust };
  return { ...flow, x: smoothed(x, flow), y: smoothed(y, flow), fit: smoothed(fit, flow) };
}

/** One patch of `from` and its displacement in `to`. Reused for all nodes to avoid allocations. */
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

  /** Loads the patch with its top left corner at this pixel, and its gradients. */
  load(left: number, top: number): void {
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

  /** Resets the displacement to zero. */
  reset(): void {
    this.x = 0;
    this.y = 0;
    this.#cost = this.#compare(0, 0);
  }

  /** Adopts a displacement if it fits better than the current one. */
  tryDisplacement(x: number, y: number): void {
    if (x === this.x && y === this.y) return;
    const cost = this.#compare(x, y);
    if (cost >= this.#cost) return;
    this.x = x;
    this.y = y;
    this.#cost = cost;
  }

  /** Refines the displacement by inverse Lucas-Kanade. */
  refine(): void {
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
      // A displacement beyond the size of the patch is a false match.
      if (Math.abs(x - startX) > PATCH || Math.abs(y - startY) > PATCH) return;
      const cost = this.#compare(x, y);
      if (cost >= this.#cost) return;
      this.#cost = cost;
      this.x = x;
      this.y = y;
      if (dx * dx + dy * dy < CONVERGED_STEP * CONVERGED_STEP) return;
    }
  }

  /** Quality of the match, 0–1. */
  fit(): number {
    return Math.exp(-this.#cost / (PIXELS * FIT_SCALE * FIT_SCALE));
  }

  /** Texture in the weaker direction, 0–1, from the smaller eigenvalue of the structure tensor. */
  texture(): number {
    const half = (this.#xx + this.#yy) / 2;
    const weaker = half - Math.hypot((this.#xx - this.#yy) / 2, this.#xy);
    return weaker / (weaker + NOISE);
  }

  /** Sum of squared differences to `to`, with the mean removed. Stores the differences. Pixels outside repeat the border. */
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
        const row = clamp(top + j, height) * width;
        const below = clamp(top + j + 1, height) * width;
        for (let i = 0; i < PATCH; i++, k++) {
          const column = clamp(left + i, width);
          const next = clamp(left + i + 1, width);
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

const clamp = (index: number, length: number) => Math.max(0, Math.min(length - 1, index));

/** Median of 3 × 3 nodes, then a mean weighted with confidence, so that nodes without texture take the values of their neighbours. */
function smoothed(values: Float32Array, { columns, rows, trust }: LevelFlow): Float32Array {
  const medians = new Float32Array(values.length);
  const nine = new Float32Array(9);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      let n = 0;
      for (let j = -1; j <= 1; j++) {
        const line = clamp(row + j, rows) * columns;
        for (let i = -1; i <= 1; i++) nine[n++] = values[line + clamp(column + i, columns)] as number;
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
        const line = clamp(row + j, rows) * columns;
        for (let i = -1; i <= 1; i++) {
          const node = line + clamp(column + i, columns);
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
