/** Pictures of which every pixel is taken from elsewhere. */

import { native } from '../../../../audio/native.ts';
import type { VectorField } from './vector-field.ts';

/** Of pictures in I420: planes of 8 bits, Y, U and V one after the other, the last two of half the sides, which are even. */
export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/**
 * Makes a picture: each pixel is what `from` has at its own place plus the displacement. Beyond the border the picture
 * is mirrored. Light is interpolated by cubics, colour linearly.
 * @param into of the same size, not `from` itself.
 * @throws RangeError for a picture of more than 2^24 bytes.
 */
export function warp(
  from: Uint8Array,
  { width, height }: PictureSize,
  { grid, x, y }: VectorField,
  into: Uint8Array,
): void {
  const { columns, rows, origin, step } = grid;
  native.warpPicture(from, width, height, columns, rows, origin, step, x, y, into);
}

/** Mixes a picture into another: `into` becomes `(1 - share) into + share other`. */
export function mix(into: Uint8Array, other: Uint8Array, share: number): void {
  const part = Math.round(share * 256);
  for (let at = 0; at < into.length; at++) {
    const here = into[at] as number;
    into[at] = here + ((((other[at] as number) - here) * part + 128) >> 8);
  }
}
