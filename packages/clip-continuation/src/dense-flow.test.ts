import { describe, expect, it } from 'vitest';
import { picture, shifted, turned, type View } from '../testing/moving-pictures.ts';
import { denseFlow } from './dense-flow.ts';
import { downscale, pyramid } from './luma.ts';

const SIZE = { width: 640, height: 360 };
const FACTOR = 2;
const STILL = shifted(0, 0);

const levelsOf = (pixels: Uint8Array) => pyramid(downscale(pixels, SIZE.width, SIZE.height, FACTOR));

/** Lengths of the errors of all nodes, sorted, in pixels; `view` says where the first picture is in the second. */
function errors(view: View, change: (pixels: Uint8Array) => Uint8Array = (it) => it): Float32Array {
  const flow = denseFlow(levelsOf(change(picture(SIZE, view))), levelsOf(picture(SIZE, STILL)), FACTOR);
  const { columns, origin, step } = flow.grid;
  const lengths = flow.x.map((right, node) => {
    const x = origin + step * (node % columns);
    const y = origin + step * Math.floor(node / columns);
    const [atX, atY] = view(x, y);
    return Math.hypot(x + right - atX, y + (flow.y[node] ?? 0) - atY);
  });
  return lengths.sort();
}

const mean = (values: Float32Array) => values.reduce((sum, value) => sum + value, 0) / values.length;
const share = (values: Float32Array, part: number) => values[Math.floor(values.length * part)] ?? Infinity;

describe('denseFlow', () => {
  it.each([
    ['no motion', STILL, 0.001],
    ['a fraction of a pixel', shifted(0.4, -0.2), 0.1],
    ['a few pixels', shifted(3.7, -1.3), 0.1],
    ['a turn of a degree', turned(SIZE, Math.PI / 180), 0.12],
    ['a zoom of two percent', turned(SIZE, 0, 1.02), 0.12],
  ])('measures %s to a tenth of a pixel', (_, view, most) => {
    expect(mean(errors(view))).toBeLessThan(most);
  });

  it('measures a fast motion where both pictures overlap', () => {
    const wrong = errors(shifted(36, 14));
    expect(share(wrong, 0.5)).toBeLessThan(0.15);
    expect(share(wrong, 0.85)).toBeLessThan(0.5);
  });

  it('does not measure a change of brightness as motion', () => {
    const wrong = errors(shifted(3, 2), (pixels) => pixels.map((grey) => Math.min(255, grey + 12)));
    expect(share(wrong, 0.9)).toBeLessThan(0.3);
  });

  it('measures no motion without texture, with low confidence', () => {
    const grey = new Uint8Array((SIZE.width * SIZE.height * 3) / 2).fill(100);
    const flow = denseFlow(levelsOf(grey), levelsOf(grey), FACTOR);
    expect(Math.max(...flow.x, ...flow.y)).toBe(0);
    expect(Math.max(...flow.trust)).toBeLessThan(0.01);
  });
});
