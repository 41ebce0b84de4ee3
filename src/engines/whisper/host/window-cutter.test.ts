import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../../kit/math/seeded-random.ts';
import { WINDOW_SAMPLES, windowCut } from './window-cutter.ts';

const RATE = 16_000;

/** Noise of full loudness; from each begin to each end, in seconds, at the given level. */
function audio(...stretches: (readonly [beginS: number, endS: number, level: number])[]) {
  const random = seededRandom(3);
  const samples = Float32Array.from({ length: WINDOW_SAMPLES }, () => random() - 0.5);
  for (const [beginS, endS, level] of stretches) {
    for (let index = Math.round(beginS * RATE); index < Math.round(endS * RATE); index++) {
      samples[index] = (samples[index] as number) * level;
    }
  }
  return samples;
}
/** Closures as in speech: every 0.2 s it is quiet for 60 ms. */
const closures = (level: number) =>
  Array.from({ length: 150 }, (_, index) => [index * 0.2, index * 0.2 + 0.06, level] as const);
const cutS = (samples: Float32Array<ArrayBuffer>) => windowCut(samples) / RATE;

describe('where a window ends', () => {
  test('in the middle of the longest pause', () => {
    expect(cutS(audio(...closures(0.01), [22, 22.6, 0.01], [25, 26, 0.01], [28, 28.4, 0.01]))).toBeCloseTo(
      25.5,
      1,
    );
  });

  test('a longer pause before the last third is not looked at', () => {
    expect(cutS(audio(...closures(0.01), [5, 9, 0], [24, 24.5, 0.01]))).toBeCloseTo(24.25, 1);
  });

  test('the later of two equal pauses', () => {
    expect(cutS(audio([21, 22, 0], [27, 28, 0]))).toBeCloseTo(27.5, 1);
  });

  test('a long pause with a little noise is preferred to a short one of silence', () => {
    expect(cutS(audio(...closures(0.02), [22, 22.3, 0], [26, 27.2, 0.02]))).toBeCloseTo(26.6, 1);
  });

  test('without a pause, where it is quietest', () => {
    expect(cutS(audio(...closures(0.05), [23.4, 23.5, 0.001]))).toBeCloseTo(23.45, 1);
  });

  test('at the end when all is equally loud, or nothing is heard', () => {
    expect(windowCut(audio())).toBe(WINDOW_SAMPLES);
    expect(windowCut(new Float32Array(WINDOW_SAMPLES))).toBe(WINDOW_SAMPLES);
  });

  test('speech that ends early leaves a pause to cut in', () => {
    const cut = cutS(audio(...closures(0.01), [24, 30, 0]));
    expect(cut).toBeGreaterThan(24);
    expect(cut).toBeLessThanOrEqual(30);
  });

  test('what follows the window does not matter', () => {
    const samples = audio(...closures(0.01), [25, 26, 0.01]);
    const longer = new Float32Array(WINDOW_SAMPLES + 5_000).fill(1);
    longer.set(samples);
    expect(windowCut(longer)).toBe(windowCut(samples));
  });
});
