/**
 * Splits motion into camera motion, a similarity transform of the full picture, and local motion. Both are measured for
 * one frame. Camera motion can be extrapolated without distortion; local motion only for a few frames.
 */

import type { Flow } from './dense-flow.ts';
import { emptyField, FieldSampler, type VectorField } from './vector-field.ts';

/**
 * Velocity at each position in pixels per frame: (zoom + i turn) (z - centre) + shift, with complex z. `turn` is in
 * radians per frame; y points down.
 */
export interface CameraMotion {
  readonly centreX: number;
  readonly centreY: number;
  readonly zoom: number;
  readonly turn: number;
  readonly shiftX: number;
  readonly shiftY: number;
}

export interface Motion {
  readonly camera: CameraMotion;
  /** Motion relative to the camera motion, in pixels per frame. */
  readonly local: VectorField;
}

const FIT_ITERATIONS = 8;
/** Tukey's constant: residuals beyond this many standard deviations have no weight. */
const TUKEY = 4.7;
/** Ratio of the standard deviation to the median absolute deviation of a normal distribution. */
const DEVIATION = 1.4826;
/** Velocities below this value are measurement noise, in pixels per frame. */
const NOISE_PIXELS = 0.15;
/** Time constant in frames with which local motion decays. Longer motion would distort its surroundings. */
const LOCAL_DECAY_FRAMES = 4;
/** Fixed-point iterations that invert the local motion. */
const INVERSION_STEPS = 3;

/**
 * Fits camera motion to velocities by iteratively reweighted least squares with Tukey's biweight. The residuals are local
 * motion.
 */
export function separateMotion(velocity: Flow, width: number, height: number): Motion {
  const camera = fitCamera(velocity, (width - 1) / 2, (height - 1) / 2);
  const local = emptyField(velocity.grid);
  const { columns } = velocity.grid;
  for (let node = 0; node < velocity.x.length; node++) {
    const { x, y } = positionOf(velocity, node, columns);
    const residualX = (velocity.x[node] as number) - velocityX(camera, x, y);
    const residualY = (velocity.y[node] as number) - velocityY(camera, x, y);
    const length = Math.hypot(residualX, residualY);
    // Inconsistent motion, for example of water, is not extrapolated.
    const fit = velocity.fit[node] as number;
    const gain = length <= NOISE_PIXELS ? 0 : fit * (1 - NOISE_PIXELS / length);
    local.x[node] = residualX * gain;
    local.y[node] = residualY * gain;
  }
  return { camera, local };
}

/**
 * Computes the displacements for a picture `frames` frames after the one whose motion is known.
 * @param into displacement from each node of the later picture back to the known picture, in pixels.
 */
export function backwardDisplacements({ camera, local }: Motion, frames: number, into: VectorField): void {
  const { columns } = into.grid;
  const back = advance(camera, -frames);
  const share = LOCAL_DECAY_FRAMES * (1 - Math.exp(-frames / LOCAL_DECAY_FRAMES));
  const sampler = new FieldSampler(local);
  for (let node = 0; node < into.x.length; node++) {
    const { x, y } = positionOf(into, node, columns);
    let atX = x + back.x(x, y);
    let atY = y + back.y(x, y);
    const startX = atX;
    const startY = atY;
    for (let step = 0; step < INVERSION_STEPS; step++) {
      sampler.sample(atX, atY);
      atX = startX - share * sampler.x;
      atY = startY - share * sampler.y;
    }
    into.x[node] = atX - x;
    into.y[node] = atY - y;
  }
}

/** Maximum speed of the camera motion at the corners and the centre of the picture, in pixels per frame. */
export function maxCameraSpeed(camera: CameraMotion): number {
  const { centreX, centreY } = camera;
  const corners = [-1, 1].flatMap((right) =>
    [-1, 1].map((down) => [right * centreX, down * centreY] as const),
  );
  const speeds = [[0, 0] as const, ...corners].map(([x, y]) =>
    Math.hypot(velocityX(camera, centreX + x, centreY + y), velocityY(camera, centreX + x, centreY + y)),
  );
  return Math.max(...speeds);
}

function fitCamera(velocity: Flow, centreX: number, centreY: number): CameraMotion {
  const { columns } = velocity.grid;
  const weights = new Float32Array(velocity.x.length);
  const residuals = new Float32Array(velocity.x.length);
  // Starts with medians. Least squares would start between two motions and might not converge to either.
  const shiftX = trustedMedian(velocity.x, velocity.trust);
  const shiftY = trustedMedian(velocity.y, velocity.trust);
  let camera: CameraMotion = { centreX, centreY, zoom: 0, turn: 0, shiftX, shiftY };
  for (let iteration = 0; iteration < FIT_ITERATIONS; iteration++) {
    for (let node = 0; node < residuals.length; node++) {
      const { x, y } = positionOf(velocity, node, columns);
      const residualX = (velocity.x[node] as number) - velocityX(camera, x, y);
      const residualY = (velocity.y[node] as number) - velocityY(camera, x, y);
      residuals[node] = Math.hypot(residualX, residualY);
    }
    const spread = DEVIATION * trustedMedian(residuals, velocity.trust);
    const limit = Math.max(NOISE_PIXELS, TUKEY * spread);
    for (let node = 0; node < residuals.length; node++) {
      const share = Math.min(1, (residuals[node] as number) / limit);
      weights[node] = (velocity.trust[node] as number) * (1 - share * share) ** 2;
    }
    camera = leastSquares(velocity, weights, camera);
  }
  return camera;
}

/** Weighted linear regression of complex numbers, whose slope is zoom and turn. Without any weight, the result is zero. */
function leastSquares(
  velocity: Flow,
  weights: Float32Array,
  { centreX, centreY }: CameraMotion,
): CameraMotion {
  const { columns } = velocity.grid;
  let sum = 0;
  let zx = 0;
  let zy = 0;
  let vx = 0;
  let vy = 0;
  for (let node = 0; node < weights.length; node++) {
    const weight = weights[node] as number;
    const { x, y } = positionOf(velocity, node, columns);
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
    const { x, y } = positionOf(velocity, node, columns);
    const dx = x - centreX - zx;
    const dy = y - centreY - zy;
    const residualX = (velocity.x[node] as number) - vx;
    const residualY = (velocity.y[node] as number) - vy;
    spread += weight * (dx * dx + dy * dy);
    zoom += weight * (dx * residualX + dy * residualY);
    turn += weight * (dx * residualY - dy * residualX);
  }
  // Regularization for a single weighted node, which has no slope. Otherwise the constant is negligible.
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

/** Displacements after `frames` frames of camera motion m: e^(m t) z + shift (e^(m t) - 1) / m. */
function advance(camera: CameraMotion, frames: number) {
  const { centreX, centreY, zoom, turn, shiftX, shiftY } = camera;
  const scale = Math.exp(zoom * frames);
  const re = scale * Math.cos(turn * frames) - 1;
  const im = scale * Math.sin(turn * frames);
  const norm = zoom * zoom + turn * turn;
  // (e^(m t) - 1) / m, whose limit for m = 0 is t.
  const isTranslation = norm < 1e-14;
  const alongRe = isTranslation ? frames : (re * zoom + im * turn) / norm;
  const alongIm = isTranslation ? 0 : (im * zoom - re * turn) / norm;
  const moveX = alongRe * shiftX - alongIm * shiftY;
  const moveY = alongIm * shiftX + alongRe * shiftY;
  return {
    x: (x: number, y: number) => re * (x - centreX) - im * (y - centreY) + moveX,
    y: (x: number, y: number) => im * (x - centreX) + re * (y - centreY) + moveY,
  };
}

const velocityX = ({ centreX, centreY, zoom, turn, shiftX }: CameraMotion, x: number, y: number) =>
  zoom * (x - centreX) - turn * (y - centreY) + shiftX;
const velocityY = ({ centreX, centreY, zoom, turn, shiftY }: CameraMotion, x: number, y: number) =>
  turn * (x - centreX) + zoom * (y - centreY) + shiftY;

function positionOf({ grid }: VectorField, node: number, columns: number) {
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
