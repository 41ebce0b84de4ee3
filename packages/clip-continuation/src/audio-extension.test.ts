import { describe, expect, it } from 'vitest';
import { testRandom } from '../testing/test-random.ts';
import { extendAudio as extend } from './audio-extension.ts';

const RATE_HZ = 16_000;
const TAIL = 4 * RATE_HZ;
const LENGTH = 9 * RATE_HZ;

/** Like {@link extend}, with the same pieces in each call. */
const extendAudio = (tail: readonly Float32Array[], rateHz: number, length: number) =>
  extend(tail, rateHz, length, testRandom(1));

type Sound = (sample: number) => number;

const samples = (sound: Sound) => Float32Array.from({ length: TAIL }, (_, n) => sound(n));
const tone =
  (hz: number, height: number): Sound =>
  (n) =>
    height * Math.sin((2 * Math.PI * hz * n) / RATE_HZ);

function noise(height: number): Sound {
  const random = testRandom(5);
  return () => height * (random() + random() + random() - 1.5);
}

/** Speech-like signal: bursts of a buzz with pauses. */
const syllables: Sound = (n) => {
  const phase = (n / RATE_HZ) % 0.31;
  const height = phase < 0.2 ? Math.sin((Math.PI * phase) / 0.2) : 0;
  const pitch = 120 + 20 * Math.sin(n / 9000);
  return (
    0.2 * height * Math.sign(Math.sin((2 * Math.PI * pitch * n) / RATE_HZ)) * Math.cos((n / RATE_HZ) * 3000)
  );
};

const rms = (of: Float32Array, from = 0, to = of.length) =>
  Math.sqrt(of.subarray(from, to).reduce((sum, value) => sum + value * value, 0) / (to - from));

/** The largest difference between consecutive samples. */
function steepest(of: Float32Array): number {
  return of.reduce((most, value, n) => Math.max(most, Math.abs(value - (of[n - 1] ?? value))), 0);
}

const SOUNDS: [string, Sound][] = [
  ['a tone', tone(440, 0.3)],
  ['two inharmonic tones', (n) => tone(220, 0.2)(n) + tone(311.13, 0.2)(n)],
  ['noise', noise(0.2)],
  ['syllables', syllables],
];

describe('extendAudio', () => {
  it.each(SOUNDS)('continues without a click: %s', (_, sound) => {
    const tail = samples(sound);
    const [output = new Float32Array()] = extendAudio([tail], RATE_HZ, LENGTH);
    expect(output).toHaveLength(LENGTH);
    const combined = new Float32Array([...tail, ...output]);
    expect(steepest(combined)).toBeLessThan(1.3 * steepest(tail));
  });

  it.each(SOUNDS)('preserves the loudness: %s', (_, sound) => {
    const tail = samples(sound);
    const [output = new Float32Array()] = extendAudio([tail], RATE_HZ, LENGTH);
    const loudness = rms(tail);
    for (let second = 0; second < 9; second++) {
      const here = rms(output, second * RATE_HZ, (second + 1) * RATE_HZ);
      expect(Math.abs(20 * Math.log10(here / loudness))).toBeLessThan(3);
    }
  });

  it.each([100, 200, 300, 440, 1000])('has no dropout after the seam, at any phase: %i Hz', (hz) => {
    const window = Math.max(0.004, 1 / hz) * RATE_HZ;
    for (let phase = 0; phase < 1; phase += 0.1) {
      const tail = samples((n) => 0.125 * Math.sin(2 * Math.PI * ((hz * n) / RATE_HZ + phase)));
      const [output = new Float32Array()] = extendAudio([tail], RATE_HZ, LENGTH);
      const combined = new Float32Array([...tail.subarray(-window), ...output.subarray(0, 0.1 * RATE_HZ)]);
      const loudness = rms(tail);
      for (let from = 0; from + window <= combined.length; from++) {
        expect(rms(combined, from, from + window)).toBeGreaterThan(loudness / 2);
      }
    }
  });

  it('keeps channels separate and synchronized', () => {
    const left = samples(noise(0.2));
    const right = left.map((value) => -0.5 * value);
    const [outputLeft, outputRight] = extendAudio([left, right], RATE_HZ, LENGTH);
    for (const n of [0, 1000, 70_000, LENGTH - 1]) {
      expect(outputRight?.[n]).toBeCloseTo(-0.5 * (outputLeft?.[n] ?? 0), 5);
    }
  });

  it('joins pieces in an aperiodic order', () => {
    const [output = new Float32Array()] = extendAudio([samples(noise(0.2))], RATE_HZ, LENGTH);
    const copies = [1, 2, 3, 4].map((seconds) => {
      const lag = seconds * RATE_HZ;
      let product = 0;
      for (let n = lag; n < LENGTH; n++) product += (output[n] ?? 0) * (output[n - lag] ?? 0);
      return product / ((LENGTH - lag) * rms(output) ** 2);
    });
    expect(Math.max(...copies)).toBeLessThan(0.5);
  });

  it('returns silence after silence and after a very short tail', () => {
    const silent = extendAudio([new Float32Array(TAIL)], RATE_HZ, 100);
    expect(silent).toEqual([new Float32Array(100)]);
    expect(extendAudio([new Float32Array(50).fill(0.5)], RATE_HZ, 100)).toEqual([new Float32Array(100)]);
    expect(extendAudio([new Float32Array(0)], RATE_HZ, 10)).toEqual([new Float32Array(10)]);
  });
});
