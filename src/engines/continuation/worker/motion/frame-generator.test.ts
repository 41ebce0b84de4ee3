import { describe, expect, it } from 'vitest';
import { picture, shifted, texture, turned, type View } from '../../../../../test/media/moving-pictures.ts';
import { FrameMaker } from './frame-maker.ts';
import { similarityIndex } from './similarity-index.ts';

const SIZE = { width: 320, height: 192 };
const LUMA = SIZE.width * SIZE.height;
const FPS = 24;

const clip = (frames: number, at: (frame: number) => View) =>
  Array.from({ length: frames }, (_, frame) => picture(SIZE, at(frame)));

/** So many frames after a clip. */
function continued(tail: readonly Uint8Array[], frames: number) {
  const maker = new FrameMaker(tail, SIZE, FPS);
  const plan = maker.plan(frames);
  const made = plan.map((shown) => {
    const into = new Uint8Array(tail[0]?.length ?? 0);
    maker.make(shown, into);
    return into;
  });
  return { manner: maker.manner, plan, made };
}

const alike = (a: Uint8Array | undefined, b: Uint8Array | undefined) =>
  similarityIndex(a ?? new Uint8Array(LUMA), b ?? new Uint8Array(LUMA), SIZE.width, SIZE.height);

const light = (pixels: Uint8Array) => pixels.subarray(0, LUMA).reduce((sum, grey) => sum + grey, 0) / LUMA;

/** The largest change of the mean light from a frame to the next, of the full range. */
function largestStep(frames: readonly Uint8Array[]): number {
  const lights = frames.map(light);
  return Math.max(...lights.slice(1).map((value, before) => Math.abs(value - (lights[before] ?? 0)))) / 219;
}

const KINDS: [string, Uint8Array[]][] = [
  ['a slow pan', clip(30, (frame) => shifted(0.6 * frame, 0.2 * frame))],
  ['a fast pan', clip(30, (frame) => shifted(12 * frame, 0))],
  ['a zoom', clip(30, (frame) => turned(SIZE, 0, 1.004 ** frame))],
  ['a turn', clip(30, (frame) => turned(SIZE, 0.01 * frame))],
  ['no motion', clip(30, () => shifted(0, 0))],
  ['a cut three frames before the end', clip(30, (frame) => shifted(frame < 27 ? 700 : 2 * frame, 0))],
  ['a cut before the last frame', clip(30, (frame) => shifted(frame < 29 ? 700 : 0, 0))],
  ['a single frame', clip(1, () => shifted(0, 0))],
];

describe('what follows a clip', () => {
  it.each(KINDS)('begins as the clip ends, and has no flash: %s', (_, tail) => {
    const last = tail.at(-1) as Uint8Array;
    const { made } = continued(tail, 40);
    expect(made).toHaveLength(40);
    expect(alike(last, made[0])).toBeGreaterThan(0.97);
    expect(largestStep([last, ...made])).toBeLessThan(Math.max(0.005, 1.3 * largestStep(tail)));
  });

  it('goes on as the camera did', () => {
    const { manner, made, plan } = continued(
      clip(30, (frame) => shifted(0.6 * frame, 0)),
      6,
    );
    expect(manner).toBe('swing');
    const moment = plan[5]?.moment ?? 0;
    expect(moment).toBeGreaterThan(5);
    expect(alike(made[5], picture(SIZE, shifted(0.6 * (29 + moment), 0)))).toBeGreaterThan(0.97);
    expect(alike(made[5], picture(SIZE, shifted(0.6 * 29, 0)))).toBeLessThan(0.9);
  });

  it('is between two frames what a camera would have seen there', () => {
    const tail = clip(30, (frame) => shifted(3 * frame, -frame));
    const maker = new FrameMaker(tail, SIZE, FPS);
    const into = new Uint8Array(tail[0]?.length ?? 0);
    for (const moment of [-4.75, -4.5, -4.2]) {
      maker.make({ moment, other: moment, share: 0 }, into);
      expect(alike(into, picture(SIZE, shifted(3 * (29 + moment), -29 - moment)))).toBeGreaterThan(0.97);
    }
  });

  it('is what the clip showed, to the bit, where it goes back at full speed', () => {
    const tail = clip(60, (frame) => shifted(8 * frame, 0));
    const { plan, made } = continued(tail, 60);
    const whole = plan.flatMap(({ moment }, frame) =>
      Number.isInteger(moment) && moment < 0 ? [frame] : [],
    );
    expect(whole.length).toBeGreaterThan(20);
    for (const frame of whole) {
      const shown = tail[59 + (plan[frame]?.moment ?? 0)] ?? [];
      expect(Buffer.compare(made[frame] ?? new Uint8Array(), Buffer.from(shown))).toBe(0);
    }
  });

  it('is a loop where something turns', () => {
    const disc = (frame: number) => {
      const pixels = picture(SIZE, shifted(0, 0));
      const view = turned(SIZE, (2 * Math.PI * frame) / 24);
      for (let y = 16; y < 176; y++) {
        for (let x = 80; x < 240; x++) {
          if (Math.hypot(x - 159.5, y - 95.5) > 75) continue;
          const [fromX, fromY] = view(x, y);
          pixels[y * SIZE.width + x] = texture(2 * fromX, 2 * fromY);
        }
      }
      return pixels;
    };
    const tail = Array.from({ length: 40 }, (_, frame) => disc(frame));
    const { manner, made } = continued(tail, 30);
    expect(manner).toBe('loop');
    for (const frame of [8, 20, 23]) expect(alike(made[frame], disc(40 + frame))).toBeGreaterThan(0.97);
  });

  it('stands still where there is one frame', () => {
    const { manner, made } = continued(
      clip(1, () => shifted(0, 0)),
      3,
    );
    expect(manner).toBe('still');
    expect(made[2]).toEqual(picture(SIZE, shifted(0, 0)));
  });
});
