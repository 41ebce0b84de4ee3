import type { Warp } from '../../../../packages/clip-continuation/src/index.ts';
import { native } from '../../../audio/native.ts';

/** The warp of the native addon. @throws RangeError for a picture of more than 2^24 bytes. */
export const nativeWarp: Warp = (from, { width, height }, { grid, x, y }, into) => {
  const { columns, rows, origin, step } = grid;
  native.warpPicture(from, width, height, columns, rows, origin, step, x, y, into);
};
