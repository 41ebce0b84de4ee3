import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../../kit/math/seeded-random.ts';
import { WINDOW_SAMPLES, windowCut } from './window-cutter.ts';

const RATE = 16_000;

/** Noise at full level, attenuated to the given level in each stretch. */
function audio(...stretches: (readonly [startS: number, endS: number, level: number])[]) {
  const random = seededRandom(3);
  const samples = Float32Array.from({ length: WINDOW_SAMPLES }, () => random() - 0.5);
  for (const [startS, endS, level] of stretches) {
    for (let index = Math.round(startS * RATE); index < Math.round(endS * RATE); index++) {
      samples[index] = (samples[index] as number) * level;
    }
  }
  return samples;
}
/** Closures as in speech: 60 ms of quiet every 0.2 s. */
const closures = (level: number) =>
  Array.from({ length: 150 }, (_, index) => [index * 0.2, index * 0.2 + 0.06, level] as const);
const cutS = (samples: Float32Array<ArrayBuffer>) => windowCut(samples) / RATE;

describe('windowCut', () => {
  test('cuts in the middle of the longest pause', () => {
    expect(cutS(audio(...closures(0.01), [22, 22.6, 0.01], [25, 26, 0.01], [28, 28.4, 0.01]))).toBeCloseTo(
      25.5,
      1,
    );
  });

  test('ignores pauses before the last third', () => {
    expect(cutS(audio(...closures(0.01), [5, 9, 0], [24, 24.5, 0.01]))).toBeCloseTo(24.25, 1);
  });

  test('selects the later of two equal pauses', () => {
    expect(cutS(audio([21, 22, 0], [27, 28, 0]))).toBeCloseTo(27.5, 1);
  });

  test('prefers a long pause with slight noise to a short silent pause', () => {
    expect(cutS(audio(...closures(0.02), [22, 22.3, 0], [26, 27.2, 0.02]))).toBeCloseTo(26.6, 1);
  });

  test('cuts at the quietest stretch without a pause', () => {
    expect(cutS(audio(...closures(0.05), [23.4, 23.5, 0.001]))).toBeCloseTo(23.45, 1);
  });

  test('cuts at the end for audio of constant level and for silence', () => {
    expect(windowCut(audio())).toBe(WINDOW_SAMPLES);
    expect(windowCut(new Float32Array(WINDOW_SAMPLES))).toBe(WINDOW_SAMPLES);
  });

  test('cuts in the pause after speech that ends early', () => {
    const cut = cutS(audio(...closures(0.01), [24, 30, 0]));
    expect(cut).toBeGreaterThan(24);
    expect(cut).toBeLessThanOrEqual(30);
  });

  test('ignores audio after the window', () => {
    const samples = audio(...closures(0.01), [25, 26, 0.01]);
    const longer = new Float32Array(WINDOW_SAMPLES + 5_000).fill(1);
    longer.set(samples);
    expect(windowCut(longer)).toBe(windowCut(samples));
  });
});
