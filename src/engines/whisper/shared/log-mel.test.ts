import { describe, expect, test } from 'vitest';
import { HOP_LENGTH } from '../../../inference/mel/mel-power.ts';
import { LogMel } from './log-mel.ts';

/** Deterministic noise in -1…1 with tones, of increasing level. */
function sound(length: number): Float32Array<ArrayBuffer> {
  let state = 1;
  return Float32Array.from({ length }, (_, index) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const noise = state / 2 ** 31 - 1;
    return (index / length) * (0.05 * noise + 0.4 * Math.sin(index * 0.1) + 0.2 * Math.sin(index * 1.7));
  });
}

/** Reference implementation of the definition: dense filters, direct transform, double precision. */
function reference(padded: ArrayLike<number>, frames: number, bands: number): number[][] {
  const toHz = (mel: number) =>
    mel < 15 ? (mel * 200) / 3 : 1_000 * Math.exp((Math.log(6.4) / 27) * (mel - 15));
  const edges = Array.from({ length: bands + 2 }, (_, i) => toHz((45.245640471924965 * i) / (bands + 1)));
  const spectra = Array.from({ length: frames }, (_, t) => {
    const powers = Array.from({ length: 201 }, (_, bin) => {
      let real = 0;
      let imaginary = 0;
      for (let n = 0; n < 400; n++) {
        const value = (0.5 - 0.5 * Math.cos((2 * Math.PI * n) / 400)) * (padded[t * 160 + n] ?? 0);
        real += value * Math.cos((2 * Math.PI * bin * n) / 400);
        imaginary -= value * Math.sin((2 * Math.PI * bin * n) / 400);
      }
      return real * real + imaginary * imaginary;
    });
    return Array.from({ length: bands }, (_, band) => {
      const [low = 0, centre = 0, high = 0] = edges.slice(band, band + 3);
      const mel = powers.reduce((sum, power, bin) => {
        const rise = (bin * 40 - low) / (centre - low);
        const fall = (high - bin * 40) / (high - centre);
        return sum + (Math.max(0, Math.min(rise, fall)) * power * 2) / (high - low);
      }, 0);
      return Math.log10(Math.max(1e-10, mel));
    });
  });
  const floor = Math.max(...spectra.flat()) - 8;
  return spectra.map((spectrum) => spectrum.map((value) => (Math.max(value, floor) + 4) / 4));
}

function expectEqual(actual: Float32Array, expected: number[][], bands: number): void {
  expect(actual.length).toBe(expected.length * bands);
  let worst = 0;
  for (const [frame, spectrum] of expected.entries()) {
    for (const [band, value] of spectrum.entries()) {
      worst = Math.max(worst, Math.abs((actual[band * expected.length + frame] ?? Number.NaN) - value));
    }
  }
  expect(worst).toBeLessThan(1e-5);
}

describe.each([80, 128] as const)('%i bands', (bands) => {
  const samples = sound(3_301);

  test('without a count, the audio is mirrored at both ends', () => {
    const before = samples.slice(1, 201).reverse();
    const after = samples.slice(-201, -1).reverse();
    const padded = [...before, ...samples, ...after];
    expectEqual(new LogMel(bands).frames(samples), reference(padded, 20, bands), bands);
  });

  test('with a count, the audio is padded with silence or truncated', () => {
    const padded = [...samples.slice(1, 201).reverse(), ...samples];
    for (const count of [31, 7]) {
      expectEqual(new LogMel(bands).frames(samples, count), reference(padded, count, bands), bands);
    }
  });
});

describe('edges', () => {
  const mel = new LogMel(80);

  test('empty audio is silence', () => {
    expect(mel.frames(new Float32Array(0))).toEqual(new Float32Array(0));
    expect(mel.frames(new Float32Array(0), 3)).toEqual(new Float32Array(240).fill(-1.5));
    expect(mel.frames(new Float32Array(HOP_LENGTH))).toEqual(new Float32Array(80).fill(-1.5));
  });

  test('audio shorter than half a window is not read past its end', () => {
    const one = mel.frames(sound(170));
    expect(one.length).toBe(80);
    expect(one.every(Number.isFinite)).toBe(true);
  });

  test('results do not depend on earlier audio', () => {
    const samples = sound(2_000);
    const first = mel.frames(samples);
    mel.frames(sound(5_000), 40);
    expect(mel.frames(samples)).toEqual(first);
  });
});
