/** Scenes of the clips of tests and benchmarks: deterministic functions of position and time. */

import { seededRandom } from '../../../src/kit/math/seeded-random.ts';

/** Luma, and chroma from -1 to 1, of one point. */
export interface Shade {
  y: number;
  u: number;
  v: number;
}

/**
 * Sets the shade of a point.
 * @param x distance from the center to the right in picture heights; `y` downwards.
 */
export type Scene = (shade: Shade, x: number, y: number, timeS: number) => void;

/** Period of a texture in picture heights. */
const TEXTURE_HEIGHTS = 4;
const TEXTURE_SIDE = 1024;
const TEXTURE_CELLS = [16, 32, 64, 128, 256, 512];

/** Fractal noise from 0 to 1, with details of all sizes. */
function texture(seed: number): Float32Array {
  const values = new Float32Array(TEXTURE_SIDE ** 2);
  const random = seededRandom(seed);
  let weight = 0.4;
  for (const cells of TEXTURE_CELLS) {
    const noise = Float32Array.from({ length: cells ** 2 }, () => random());
    const cellSide = TEXTURE_SIDE / cells;
    for (let i = 0; i < values.length; i++) {
      const [x, y] = [(i % TEXTURE_SIDE) / cellSide, Math.floor(i / TEXTURE_SIDE) / cellSide];
      values[i] = (values[i] as number) + weight * sampled(noise, cells, x, y);
    }
    weight *= 0.6;
  }
  return values;
}

/** Bilinear interpolation in a repeating square. @param side a power of two. */
function sampled(square: Float32Array, side: number, x: number, y: number): number {
  const column = Math.floor(x);
  const row = Math.floor(y);
  const fx = x - column;
  const fy = y - row;
  const mask = side - 1;
  const top = (row & mask) * side;
  const low = ((row + 1) & mask) * side;
  const left = column & mask;
  const right = (column + 1) & mask;
  const above = (square[top + left] as number) * (1 - fx) + (square[top + right] as number) * fx;
  const below = (square[low + left] as number) * (1 - fx) + (square[low + right] as number) * fx;
  return above * (1 - fy) + below * fy;
}

const wall = texture(1);
const cloth = texture(2);

function surface(shade: Shade, of: Float32Array, x: number, y: number, tint: number): void {
  const scale = TEXTURE_SIDE / TEXTURE_HEIGHTS;
  const value = sampled(of, TEXTURE_SIDE, x * scale, y * scale);
  shade.y = 40 + 170 * value;
  shade.u = tint * (value - 0.3);
  shade.v = 0.5 * (0.5 - value);
}

/** A rotated light disc with dark spots and a radius of 0.25. @returns whether the point is inside. */
function disc(shade: Shade, x: number, y: number, angle: number): boolean {
  if (x * x + y * y > 0.25 ** 2) return false;
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  surface(shade, cloth, x * cos - y * sin, x * sin + y * cos, -0.8);
  if ((x * cos - y * sin) * (x * sin + y * cos) > 0) shade.y = 255 - shade.y;
  return true;
}

/** Random bit masks of letters with five by six fields. */
const LETTERS = Uint32Array.from({ length: 64 }, (_, index) => seededRandom(index + 100)() * 2 ** 32);

/** Whether a point of the page is inside a letter. */
function ink(x: number, y: number): boolean {
  const [column, row] = [Math.floor(x * 20), Math.floor(y * 12)];
  const [fieldX, fieldY] = [Math.floor((x * 20 - column) * 7), Math.floor((y * 12 - row) * 9)];
  if (fieldX > 4 || fieldY > 5) return false;
  const letter = LETTERS[(column * 7 + row * 13) & 63] as number;
  return ((letter >>> (fieldY * 5 + fieldX)) & 1) === 1;
}

/** A pseudo-random number from -1 to 1 for a point and time. */
function grain(x: number, y: number, timeS: number): number {
  let hash =
    (Math.round(x * 4096) * 374_761_393 +
      Math.round(y * 4096) * 668_265_263 +
      Math.round(timeS * 1000) * 974_711) |
    0;
  hash = Math.imul(hash ^ (hash >>> 13), 1_274_126_177);
  return ((hash ^ (hash >>> 16)) & 0xffff) / 0x8000 - 1;
}

/** @param endS length of the clip in seconds. */
export function sceneOf(name: SceneName, endS: number): Scene {
  return SCENES[name](endS);
}

const SCENES = {
  /** The camera moves evenly to the right and a little down. */
  pan: () => (shade: Shade, x: number, y: number, t: number) =>
    surface(shade, wall, x + 0.12 * t, y + 0.03 * t, 0.6),
  /** The camera zooms in. */
  zoom: () => (shade: Shade, x: number, y: number, t: number) => {
    const scale = 1.06 ** -t;
    surface(shade, wall, x * scale, y * scale, 0.6);
  },
  /** A disc rotates in front of a wall. */
  turning: () => (shade: Shade, x: number, y: number, t: number) => {
    if (!disc(shade, x, y, 0.8 * t)) surface(shade, wall, x, y, 0.5);
  },
  /** A talking head with slight movements. */
  talking: () => (shade: Shade, x: number, y: number, t: number) => {
    const [dx, dy] = [x - 0.01 * Math.sin(2.2 * t), y + 0.006 * Math.sin(3.1 * t)];
    const open = 0.01 + 0.012 * (1 + Math.sin(11 * t));
    surface(shade, wall, x, y, 0.3);
    if ((dx / 0.2) ** 2 + (dy / 0.28) ** 2 > 1) return;
    surface(shade, cloth, dx * 0.5, dy * 0.5, -0.3);
    shade.y = 110 + shade.y * 0.4;
    shade.v = 0.3;
    if ((dx / 0.06) ** 2 + ((dy - 0.12) / open) ** 2 < 1) shade.y = 50;
    if (Math.hypot(Math.abs(dx) - 0.08, dy + 0.06) < 0.025) shade.y = 30;
  },
  /** Nothing moves. */
  still: () => (shade: Shade, x: number, y: number) => surface(shade, wall, x, y, 0.6),
  /** A scene cut 0.25 s before the end. */
  cut: (endS: number) => (shade: Shade, x: number, y: number, t: number) =>
    t < endS - 0.25
      ? surface(shade, wall, x + 0.1 * t, y, 0.6)
      : surface(shade, cloth, x - 0.08 * t, y, -0.7),
  /** The picture fades to dark. */
  fade: (endS: number) => (shade: Shade, x: number, y: number, t: number) => {
    const light = 1 - 0.7 * (t / endS);
    surface(shade, wall, x + 0.05 * t, y, 0.6);
    shade.y = 16 + (shade.y - 16) * light;
    shade.u *= light;
    shade.v *= light;
  },
  /** A slow pan with film grain. */
  grain: () => (shade: Shade, x: number, y: number, t: number) => {
    surface(shade, wall, x + 0.03 * t, y, 0.4);
    shade.y += 18 * grain(x, y, t);
  },
  /** A fast disc, which the camera follows at half its speed. */
  fast: (endS: number) => (shade: Shade, x: number, y: number, t: number) => {
    const flown = 1.1 * (t - endS + 0.6);
    if (!disc(shade, x - flown * 0.5, y + 0.1, 6 * t)) surface(shade, wall, x + flown, y, 0.6);
  },
  /** A scrolling page of text. */
  text: () => (shade: Shade, x: number, y: number, t: number) => {
    shade.y = ink(x + 2, y + 2 + 0.06 * t) ? 35 : 225;
    shade.u = 0;
    shade.v = 0;
  },
} satisfies Readonly<Record<string, (endS: number) => Scene>>;

export type SceneName = keyof typeof SCENES;

/** Draws a frame of a scene as I420 in limited range. */
export function drawScene(
  scene: Scene,
  width: number,
  height: number,
  timeS: number,
): Uint8Array<ArrayBuffer> {
  const pixels = new Uint8Array((width * height * 3) / 2);
  const shade: Shade = { y: 0, u: 0, v: 0 };
  const [halfWidth, halfHeight] = [width / 2, height / 2];
  const uPlane = width * height;
  const vPlane = uPlane + halfWidth * halfHeight;
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      scene(shade, (column - halfWidth) / height, (row - halfHeight) / height, timeS);
      pixels[row * width + column] = clamped(shade.y);
      if (row % 2 === 1 || column % 2 === 1) continue;
      const at = (row / 2) * halfWidth + column / 2;
      pixels[uPlane + at] = clamped(128 + 80 * shade.u);
      pixels[vPlane + at] = clamped(128 + 80 * shade.v);
    }
  }
  return pixels;
}

const clamped = (value: number) => Math.max(16, Math.min(235, Math.round(value)));
