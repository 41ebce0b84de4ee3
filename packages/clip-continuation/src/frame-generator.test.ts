import { describe, expect, it } from 'vitest';
import { repetitions } from '../../../test/harness/tier.ts';
import { picture, shifted, texture, turned, type View } from '../testing/moving-pictures.ts';
import { referenceWarp } from '../testing/reference-warp.ts';
import { FrameGenerator } from './frame-generator.ts';
import { structuralSimilarity } from './structural-similarity.ts';

const SIZE = { width: 208, height: 128 };
const LUMA = SIZE.width * SIZE.height;
const FPS = 24;

const clip = (frames: number, at: (frame: number) => View) =>
  Array.from({ length: frames }, (_, frame) => picture(SIZE, at(frame)));

/** Plans frames after a clip. `render` generates one of them. */
function planFrames(tail: readonly Uint8Array[], count: number) {
  const generator = new FrameGenerator(tail, SIZE, FPS, referenceWarp);
  const plan = generator.planFrames(count);
  const render = (frame: number) => {
    const shown = plan[frame];
    if (shown === undefined) throw new RangeError(`frame ${frame} of ${count} is not planned`);
    const into = new Uint8Array(tail[0]?.length ?? 0);
    generator.renderFrame(shown, into);
    return into;
  };
  return { mode: generator.mode, plan, render };
}

const similarity = (a: Uint8Array, b: Uint8Array) => structuralSimilarity(a, b, SIZE.width, SIZE.height);

const brightness = (pixels: Uint8Array) =>
  pixels.subarray(0, LUMA).reduce((sum, grey) => sum + grey, 0) / LUMA;

/** The largest change of the mean brightness between consecutive frames, as a fraction of the full range. */
function largestStep(frames: readonly Uint8Array[]): number {
  const levels = frames.map(brightness);
  return Math.max(...levels.slice(1).map((value, before) => Math.abs(value - (levels[before] ?? 0)))) / 219;
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

describe('FrameGenerator', () => {
  it.each(KINDS)('starts like the end of the clip and has no flash: %s', (_, tail) => {
    const last = tail.at(-1) as Uint8Array;
    const count = repetitions(8, 40);
    const { plan, render } = planFrames(tail, count);
    expect(plan).toHaveLength(count);
    const frames = plan.map((_, frame) => render(frame));
    expect(similarity(last, frames[0] as Uint8Array)).toBeGreaterThan(0.97);
    expect(largestStep([last, ...frames])).toBeLessThan(Math.max(0.005, 1.3 * largestStep(tail)));
  });

  it('continues the camera motion', () => {
    const { mode, plan, render } = planFrames(
      clip(30, (frame) => shifted(0.6 * frame, 0)),
      6,
    );
    expect(mode).toBe('swing');
    const moment = plan[5]?.moment ?? 0;
    expect(moment).toBeGreaterThan(5);
    const last = render(5);
    expect(similarity(last, picture(SIZE, shifted(0.6 * (29 + moment), 0)))).toBeGreaterThan(0.97);
    expect(similarity(last, picture(SIZE, shifted(0.6 * 29, 0)))).toBeLessThan(0.9);
  });

  it('interpolates between two frames', () => {
    const tail = clip(30, (frame) => shifted(3 * frame, -frame));
    const generator = new FrameGenerator(tail, SIZE, FPS, referenceWarp);
    const into = new Uint8Array(tail[0]?.length ?? 0);
    for (const moment of [-4.75, -4.5, -4.2]) {
      generator.renderFrame({ moment, other: moment, share: 0 }, into);
      expect(similarity(into, picture(SIZE, shifted(3 * (29 + moment), -29 - moment)))).toBeGreaterThan(0.97);
    }
  });

  it('shows unmodified frames while it plays backwards at full speed', () => {
    const tail = clip(60, (frame) => shifted(8 * frame, 0));
    const { plan, render } = planFrames(tail, 60);
    const unmodified = plan.flatMap(({ moment }, frame) =>
      Number.isInteger(moment) && moment < 0 ? [frame] : [],
    );
    expect(unmodified.length).toBeGreaterThan(20);
    for (const frame of unmodified) {
      const shown = tail[59 + (plan[frame]?.moment ?? 0)] ?? [];
      expect(Buffer.compare(render(frame), Buffer.from(shown))).toBe(0);
    }
  });

  it('loops periodic motion', () => {
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
    const { mode, render } = planFrames(tail, 30);
    expect(mode).toBe('loop');
    for (const frame of [8, 20, 23])
      expect(similarity(render(frame), disc(40 + frame))).toBeGreaterThan(0.97);
  });

  it('repeats the frame if there is only one', () => {
    const { mode, render } = planFrames(
      clip(1, () => shifted(0, 0)),
      3,
    );
    expect(mode).toBe('still');
    expect(render(2)).toEqual(picture(SIZE, shifted(0, 0)));
  });
});
