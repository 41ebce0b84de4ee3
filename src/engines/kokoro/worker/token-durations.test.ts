import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { durationsAt } from './token-durations.ts';

const durations = (speed: number, ...predicted: number[]) =>
  Array.from(durationsAt(speed, Float32Array.from(predicted)));
const sum = (frames: readonly number[]) => frames.reduce((total, duration) => total + duration, 0);

describe('up to speed 1', () => {
  test.each([
    [1, [12.6, 1.4, 2.5, 3.5, 0.2, 24.4, 8.6, 1], [13, 1, 2, 4, 1, 24, 9, 1]],
    [0.5, [12.6, 1.2, 1.25, 1.75, 0.2, 8.6, 1], [13, 2, 2, 4, 1, 17, 2]],
    [0.7, [12.6, 1.4, 2.1, 0.5, 8.4, 1], [13, 2, 3, 1, 12, 1]],
  ])('each token is rounded alone, as in the published graph: %d', (speed, predicted, expected) => {
    expect(durations(speed, ...predicted)).toEqual(expected);
  });
});

describe('above speed 1', () => {
  test('short sounds take turns with one frame and two, instead of one frame each', () => {
    expect(durations(1.5, 12, 2, 2, 2, 2, 2, 2, 24, 9, 1)).toEqual([12, 1, 2, 1, 1, 2, 1, 16, 6, 1]);
  });

  test('a pause after sounds that cannot be shorter than a frame makes up for their time', () => {
    expect(durations(2, 12, 1, 1, 1, 1, 9, 6, 1)).toEqual([12, 1, 1, 1, 1, 3, 3, 1]);
  });

  test('the leading pad keeps its natural length', () => {
    for (const speed of [1.01, 1.5, 4]) expect(durations(speed, 12.6, 2, 2, 1)[0]).toBe(13);
    expect(durations(1.5, 0.3, 2, 1)[0]).toBe(1);
  });

  test('each token ends within half a frame of its time, if there are enough frames', () => {
    const tokens = fc.array(fc.double({ min: 4, max: 30, noNaN: true }), { minLength: 1, maxLength: 512 });
    fc.assert(
      fc.property(tokens, fc.double({ min: 1.01, max: 2, noNaN: true }), (predicted, speed) => {
        const [, ...frames] = durations(speed, 12, ...predicted);
        let [end, exactEnd] = [0, 0];
        for (const [token, duration] of frames.entries()) {
          end += duration;
          exactEnd += (predicted[token] ?? 0) / speed;
          expect(Math.abs(end - exactEnd)).toBeLessThan(0.501);
        }
      }),
    );
  });

  test('every token has a whole number of frames, and no frame is added that the minimum does not need', () => {
    const tokens = fc.array(fc.double({ min: 0.1, max: 30, noNaN: true }), { minLength: 1, maxLength: 512 });
    fc.assert(
      fc.property(tokens, fc.double({ min: 1.01, max: 4, noNaN: true }), (predicted, speed) => {
        const [, ...frames] = durations(speed, 12, ...predicted);
        expect(frames).toHaveLength(predicted.length);
        expect(frames.every((duration) => Number.isInteger(duration) && duration >= 1)).toBe(true);
        const longest = sum(predicted.map((duration) => Math.max(1, duration / speed)));
        expect(sum(frames)).toBeLessThan(longest + 0.501);
      }),
    );
  });
});
