import { describe, expect, it } from 'vitest';
import { picture, shifted, texture, turned } from '../testing/moving-pictures.ts';
import { downscale, type Luma, pyramid } from './luma.ts';
import { continuousStart, findLoopPoint } from './tail-analysis.ts';

const SIZE = { width: 160, height: 96 };

/** Luma planes of a clip. */
function tail(frames: number, at: (frame: number) => Uint8Array): Luma[] {
  return Array.from({ length: frames }, (_, frame) => downscale(at(frame), SIZE.width, SIZE.height, 2));
}

const panned = (frame: number) => picture(SIZE, shifted(2 * frame, 0));

const pyramids = (of: readonly Luma[]) => of.map(pyramid);

/** A texture with a disc that rotates once per `period` frames. */
function spinning(frame: number, period: number): Uint8Array {
  const pixels = picture(SIZE, shifted(0, 0));
  const view = turned(SIZE, (2 * Math.PI * frame) / period);
  for (let y = 8; y < 88; y++) {
    for (let x = 40; x < 120; x++) {
      if (Math.hypot(x - 79.5, y - 47.5) > 39) continue;
      const [fromX, fromY] = view(x, y);
      pixels[y * SIZE.width + x] = texture(3 * fromX + 500, 3 * fromY);
    }
  }
  return pixels;
}

describe('continuousStart', () => {
  it('is the first frame of a pan', () => {
    expect(continuousStart(pyramids(tail(24, panned)))).toBe(0);
  });

  it('is the first frame after the last cut', () => {
    const cut = (frame: number) => (frame < 15 ? picture(SIZE, shifted(900 + frame, 400)) : panned(frame));
    expect(continuousStart(pyramids(tail(24, cut)))).toBe(15);
  });

  it('excludes frames of a fade', () => {
    const faded = (frame: number) => panned(frame).map((grey) => 16 + (grey - 16) * (1 - frame / 40));
    const first = continuousStart(pyramids(tail(24, faded)));
    expect(first).toBeGreaterThan(19);
    expect(first).toBeLessThan(23);
  });

  it('is 0 for a single frame', () => {
    expect(continuousStart(pyramids(tail(1, panned)))).toBe(0);
  });
});

describe('findLoopPoint', () => {
  it('finds the earliest complete period before the end', () => {
    expect(
      findLoopPoint(
        tail(40, (frame) => spinning(frame, 12)),
        9,
      ),
    ).toBe(-36);
    expect(
      findLoopPoint(
        tail(30, (frame) => spinning(frame, 18)),
        9,
      ),
    ).toBe(-18);
  });

  it('finds the first frame of a still clip', () => {
    expect(
      findLoopPoint(
        tail(30, () => panned(0)),
        9,
      ),
    ).toBe(-27);
  });

  it('finds nothing in a pan or in a short tail', () => {
    expect(findLoopPoint(tail(30, panned), 9)).toBeUndefined();
    expect(
      findLoopPoint(
        tail(8, () => panned(0)),
        9,
      ),
    ).toBeUndefined();
  });
});
