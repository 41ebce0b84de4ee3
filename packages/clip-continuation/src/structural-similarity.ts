/** Structural similarity index (SSIM; Z. Wang et al., 2004) of two luma planes. */

const BLOCK = 8;
const STRIDE = 4;
const C1 = (0.01 * 255) ** 2;
const C2 = (0.03 * 255) ** 2;

/**
 * Mean SSIM over blocks of 8 × 8 pixels with a stride of 4, as in FFmpeg's `ssim` filter.
 * @returns 1 for identical planes, less otherwise.
 */
export function structuralSimilarity(a: Uint8Array, b: Uint8Array, width: number, height: number): number {
  let sum = 0;
  let blocks = 0;
  for (let top = 0; top + BLOCK <= height; top += STRIDE) {
    for (let left = 0; left + BLOCK <= width; left += STRIDE, blocks++) {
      let sa = 0;
      let sb = 0;
      let squares = 0;
      let product = 0;
      for (let row = 0; row < BLOCK; row++) {
        for (let at = (top + row) * width + left, end = at + BLOCK; at < end; at++) {
          const x = a[at] as number;
          const y = b[at] as number;
          sa += x;
          sb += y;
          squares += x * x + y * y;
          product += x * y;
        }
      }
      const pixels = BLOCK * BLOCK;
      const means = (sa * sb) / pixels;
      const meanSquares = (sa * sa + sb * sb) / pixels;
      const variance = (squares - meanSquares) / (pixels - 1);
      const covariance = (product - means) / (pixels - 1);
      sum +=
        (((2 * means) / pixels + C1) * (2 * covariance + C2)) /
        ((meanSquares / pixels + C1) * (variance + C2));
    }
  }
  return blocks === 0 ? 1 : sum / blocks;
}
