import { describe, expect, it } from 'vitest';
import { picture, shifted, texture, turned } from '../../../../../test/media/moving-pictures.ts';
import { type Luma, pyramid, shrunk } from './luma.ts';
import { twinOfEnd, wholeFrom } from './tail.ts';

const SIZE = { width: 160, height: 96 };

/** Frames of a clip. */
function tail(frames: number, at: (frame: number) => Uint8Array): Luma[] {
  return Array.from({ length: frames }, (_, frame) => shrunk(at(frame), SIZE.width, SIZE.height, 2));
}

const panned = (frame: number) => picture(SIZE, shifted(2 * frame, 0));

const pyramids = (of: readonly Luma[]) => of.map(pyramid);

/** The texture with a disc that turns once in so many frames. */
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

describe('the part of a tail that is of one piece', () => {
  it('is all of it where a camera moves', () => {
    expect(wholeFrom(pyramids(tail(24, panned)))).toBe(0);
  });

  it('begins after the last cut', () => {
    const cut = (frame: number) => (frame < 15 ? picture(SIZE, shifted(900 + frame, 400)) : panned(frame));
    expect(wholeFrom(pyramids(tail(24, cut)))).toBe(15);
  });

  it('begins where the light of a fade is about that of the end', () => {
    const faded = (frame: number) => panned(frame).map((grey) => 16 + (grey - 16) * (1 - frame / 40));
    const first = wholeFrom(pyramids(tail(24, faded)));
    expect(first).toBeGreaterThan(19);
    expect(first).toBeLessThan(23);
  });

  it('is a single frame, where there is no other', () => {
    expect(wholeFrom(pyramids(tail(1, panned)))).toBe(0);
  });
});

describe('the twin of the end', () => {
  it('is a whole number of turns before it, as many as there are', () => {
    expect(
      twinOfEnd(
        tail(40, (frame) => spinning(frame, 12)),
        9,
      ),
    ).toBe(-36);
    expect(
      twinOfEnd(
        tail(30, (frame) => spinning(frame, 18)),
        9,
      ),
    ).toBe(-18);
  });

  it('is the first moment of what does not move', () => {
    expect(
      twinOfEnd(
        tail(30, () => panned(0)),
        9,
      ),
    ).toBe(-27);
  });

  it('is none where a camera moves, and none in a tail that is too short', () => {
    expect(twinOfEnd(tail(30, panned), 9)).toBeUndefined();
    expect(
      twinOfEnd(
        tail(8, () => panned(0)),
        9,
      ),
    ).toBeUndefined();
  });
});
