/**
 * Motion in two parts: what the camera does, a similarity of the whole picture, and what moves in it. Both are known
 * for one frame; the first can be carried on for as long as one likes without tearing anything.
 */

import type { Flow } from './dense-flow.ts';
import { emptyField, FieldSampler, type VectorField } from './vector-field.ts';

/**
 * Velocity of each place, in pixels a frame: (zoom + i turn) (z - centre) + shift, of complex z. `turn` is in radians
 * a frame, y points down.
 */
export interface Similarity {
  readonly centreX: number;
  readonly centreY: number;
  readonly zoom: number;
  readonly turn: number;
  readonly shiftX: number;
  readonly shiftY: number;
}

export interface Motion {
  readonly whole: Similarity;
  /** What parts do beside it, in pixels a frame. */
  readonly local: VectorField;
}

const FIT_ROUNDS = 8;
/** Tukey's constant: residuals beyond so many deviations do not count. */
const TUKEY = 4.7;
/** Median of the absolute to standard deviation. */
const DEVIATION = 1.4826;
/** Less is noise of the measurement, in pixels a frame. */
const QUIET_PIXELS = 0.15;
/** What moves by itself comes to rest after about so many frames: farther on it would tear what is around it. */
const LOCAL_FRAMES = 4;
const BACK_STEPS = 3;

/** Fits the camera's part (Tukey's biweight, reweighted) to velocities; the rest is local. */
export function motionOf(velocity: Flow, width: number, height: number): Motion {
  const whole = similarityOf(velocity, (width - 1) / 2, (height - 1) / 2);
  const local = emptyField(velocity.grid);
  const { columns } = velocity.grid;
  for (let node = 0; node < velocity.x.length; node++) {
    const { x, y } = placeOf(velocity, node, columns);
    const restX = (velocity.x[node] as number) - velocityX(whole, x, y);
    const restY = (velocity.y[node] as number) - velocityY(whole, x, y);
    const length = Math.hypot(restX, restY);
    // What only seems to move, as water does, stays where it is.
    const fit = velocity.fit[node] as number;
    const kept = length <= QUIET_PIXELS ? 0 : fit * (1 - QUIET_PIXELS / length);
    local.x[node] = restX * kept;
    local.y[node] = restY * kept;
  }
  return { whole, local };
}

/**
 * Where the parts of a picture come from that is `frames` later than the one whose motion is known.
 * @param into displacements from each place of the later picture back to the known one, in pixels.
 */
export function displacementsBack({ whole, local }: Motion, frames: number, into: VectorField): void {
  const { columns } = into.grid;
  const back = advance(whole, -frames);
  const share = LOCAL_FRAMES * (1 - Math.exp(-frames / LOCAL_FRAMES));
  const sampler = new FieldSampler(local);
  for (let node = 0; node < into.x.length; node++) {
    const { x, y } = placeOf(into, node, columns);
    let atX = x + back.x(x, y);
    let atY = y + back.y(x, y);
    const startX = atX;
    const startY = atY;
    for (let step = 0; step < BACK_STEPS; step++) {
      sampler.at(atX, atY);
      atX = startX - share * sampler.x;
      atY = startY - share * sampler.y;
    }
    into.x[node] = atX - x;
    into.y[node] = atY - y;
  }
}

/** The longest way that the whole moves in a frame at a corner or the centre of the picture, in pixels. */
export function wholeSpeed(whole: Similarity): number {
  const { centreX, centreY } = whole;
  const corners = [-1, 1].flatMap((right) =>
    [-1, 1].map((down) => [right * centreX, down * centreY] as const),
  );
  const speeds = [[0, 0] as const, ...corners].map(([x, y]) =>
    Math.hypot(velocityX(whole, centreX + x, centreY + y), velocityY(whole, centreX + x, centreY + y)),
  );
  return Math.max(...speeds);
}

function similarityOf(velocity: Flow, centreX: number, centreY: number): Similarity {
  const { columns } = velocity.grid;
  const weights = new Float32Array(velocity.x.length);
  const rests = new Float32Array(velocity.x.length);
  // Least squares would begin between what moves apart, and might stay there.
  const shiftX = trustedMedian(velocity.x, velocity.trust);
  const shiftY = trustedMedian(velocity.y, velocity.trust);
  let whole: Similarity = { centreX, centreY, zoom: 0, turn: 0, shiftX, shiftY };
  for (let round = 0; round < FIT_ROUNDS; round++) {
    for (let node = 0; node < rests.length; node++) {
      const { x, y } = placeOf(velocity, node, columns);
      const restX = (velocity.x[node] as number) - velocityX(whole, x, y);
      const restY = (velocity.y[node] as number) - velocityY(whole, x, y);
      rests[node] = Math.hypot(restX, restY);
    }
    const spread = DEVIATION * trustedMedian(rests, velocity.trust);
    const limit = Math.max(QUIET_PIXELS, TUKEY * spread);
    for (let node = 0; node < rests.length; node++) {
      const share = Math.min(1, (rests[node] as number) / limit);
      weights[node] = (velocity.trust[node] as number) * (1 - share * share) ** 2;
    }
    whole = leastSquares(velocity, weights, whole);
  }
  return whole;
}

/** Weighted; of complex numbers, so that the slope is zoom and turn. Without any weight nothing moves. */
function leastSquares(velocity: Flow, weights: Float32Array, { centreX, centreY }: Similarity): Similarity {
  const { columns } = velocity.grid;
  let sum = 0;
  let zx = 0;
  let zy = 0;
  let vx = 0;
  let vy = 0;
  for (let node = 0; node < weights.length; node++) {
    const weight = weights[node] as number;
    const { x, y } = placeOf(velocity, node, columns);
    sum += weight;
    zx += weight * (x - centreX);
    zy += weight * (y - centreY);
    vx += weight * (velocity.x[node] as number);
    vy += weight * (velocity.y[node] as number);
  }
  if (sum < 1e-3) return { centreX, centreY, zoom: 0, turn: 0, shiftX: 0, shiftY: 0 };
  zx /= sum;
  zy /= sum;
  vx /= sum;
  vy /= sum;
  let spread = 0;
  let zoom = 0;
  let turn = 0;
  for (let node = 0; node < weights.length; node++) {
    const weight = weights[node] as number;
    const { x, y } = placeOf(velocity, node, columns);
    const dx = x - centreX - zx;
    const dy = y - centreY - zy;
    const restX = (velocity.x[node] as number) - vx;
    const restY = (velocity.y[node] as number) - vy;
    spread += weight * (dx * dx + dy * dy);
    zoom += weight * (dx * restX + dy * restY);
    turn += weight * (dx * restY - dy * restX);
  }
  // One node of weight alone tells no slope; a few pixels of distance against it are nothing otherwise.
  zoom /= spread + 100;
  turn /= spread + 100;
  return {
    centreX,
    centreY,
    zoom,
    turn,
    shiftX: vx - (zoom * zx - turn * zy),
    shiftY: vy - (turn * zx + zoom * zy),
  };
}

/** The similarity followed for some frames: e^(m t) z + shift (e^(m t) - 1) / m. Gives displacements. */
function advance(whole: Similarity, frames: number) {
  const { centreX, centreY, zoom, turn, shiftX, shiftY } = whole;
  const scale = Math.exp(zoom * frames);
  const re = scale * Math.cos(turn * frames) - 1;
  const im = scale * Math.sin(turn * frames);
  const norm = zoom * zoom + turn * turn;
  // (e^(m t) - 1) / m, which is t where m is nothing.
  const still = norm < 1e-14;
  const alongRe = still ? frames : (re * zoom + im * turn) / norm;
  const alongIm = still ? 0 : (im * zoom - re * turn) / norm;
  const moveX = alongRe * shiftX - alongIm * shiftY;
  const moveY = alongIm * shiftX + alongRe * shiftY;
  return {
    x: (x: number, y: number) => re * (x - centreX) - im * (y - centreY) + moveX,
    y: (x: number, y: number) => im * (x - centreX) + re * (y - centreY) + moveY,
  };
}

const velocityX = ({ centreX, centreY, zoom, turn, shiftX }: Similarity, x: number, y: number) =>
  zoom * (x - centreX) - turn * (y - centreY) + shiftX;
const velocityY = ({ centreX, centreY, zoom, turn, shiftY }: Similarity, x: number, y: number) =>
  turn * (x - centreX) + zoom * (y - centreY) + shiftY;

function placeOf({ grid }: VectorField, node: number, columns: number) {
  return {
    x: grid.origin + grid.step * (node % columns),
    y: grid.origin + grid.step * Math.floor(node / columns),
  };
}

function trustedMedian(values: Float32Array, trust: Float32Array): number {
  const trusted = values.filter((_, node) => (trust[node] as number) > 0.2);
  trusted.sort();
  return trusted[trusted.length >> 1] ?? 0;
}
