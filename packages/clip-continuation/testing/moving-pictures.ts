/** Pictures with known motion: a smooth aperiodic texture, transformed by a coordinate mapping. */

import type { PictureSize } from '../src/warp.ts';

/** Maps pixel coordinates to texture coordinates. */
export type View = (x: number, y: number) => readonly [number, number];

/** Frequency in x and y, phase, and grey values of each part. */
const PARTS = [
  { fx: 0.013, fy: 0.007, phase: 0, height: 30 },
  { fx: 0.021, fy: -0.033, phase: 1, height: 20 },
  { fx: -0.05, fy: 0.061, phase: 2, height: 16 },
  { fx: 0.11, fy: 0.09, phase: 3, height: 12 },
  { fx: 0.2, fy: -0.17, phase: 4, height: 8 },
  { fx: 0.31, fy: 0.29, phase: 5, height: 5 },
];

/** One period. The pictures need many sines, to less than a grey value. */
const SINES = Float32Array.from({ length: 1 << 16 }, (_, at) => Math.sin((at * 2 * Math.PI) / (1 << 16)));
const sine = (radians: number) => SINES[(radians * (SINES.length / (2 * Math.PI))) & (SINES.length - 1)] ?? 0;

/** Gray value of the texture at any coordinates, 16–235. */
export function texture(x: number, y: number): number {
  let grey = 126;
  for (const { fx, fy, phase, height } of PARTS) {
    grey += height * sine(fx * x + fy * y + phase + 2 * sine((fy * x - fx * y) * 0.7));
  }
  return Math.max(16, Math.min(235, grey));
}

/** A picture in I420; the texture also determines its colors. */
export function picture({ width, height }: PictureSize, view: View): Uint8Array {
  const pixels = new Uint8Array((width * height * 3) / 2);
  const luma = width * height;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [fromX, fromY] = view(x, y);
      pixels[y * width + x] = Math.round(texture(fromX, fromY));
    }
  }
  for (let y = 0; y < height / 2; y++) {
    for (let x = 0; x < width / 2; x++) {
      const [fromX, fromY] = view(2 * x + 0.5, 2 * y + 0.5);
      const grey = texture(fromX, fromY);
      const at = luma + (y * width) / 2 + x;
      pixels[at] = Math.round(128 + (grey - 128) / 4);
      pixels[at + luma / 4] = Math.round(128 - (grey - 128) / 4);
    }
  }
  return pixels;
}

export const shifted =
  (right: number, down: number): View =>
  (x, y) => [x - right, y - down];

/** Rotates the texture clockwise around the center, in radians, and scales it up. */
export function turned({ width, height }: PictureSize, turn: number, scale = 1): View {
  const centreX = (width - 1) / 2;
  const centreY = (height - 1) / 2;
  const cos = Math.cos(turn) / scale;
  const sin = Math.sin(turn) / scale;
  return (x, y) => [
    centreX + cos * (x - centreX) + sin * (y - centreY),
    centreY - sin * (x - centreX) + cos * (y - centreY),
  ];
}
