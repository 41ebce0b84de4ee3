/** Warping and blending of pictures. */

import type { VectorField } from './vector-field.ts';

/** Size of an I420 picture (8-bit planes Y, U and V, chroma with half the width and height). Both sides are even. */
export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/**
 * Renders a picture in which each pixel is the pixel of `from` at its position plus the displacement. The picture is
 * mirrored beyond its border. Luma is interpolated with cubics, chroma at least linearly.
 * @param into a buffer of the same size, other than `from`.
 */
export type Warp = (
  from: Uint8Array,
  size: PictureSize,
  displacements: VectorField,
  into: Uint8Array,
) => void;

/** Blends a picture into another: `into` becomes `(1 - share) into + share other`. */
export function blend(into: Uint8Array, other: Uint8Array, share: number): void {
  const weight = Math.round(share * 256);
  for (let at = 0; at < into.length; at++) {
    const base = into[at] as number;
    into[at] = base + ((((other[at] as number) - base) * weight + 128) >> 8);
  }
}
