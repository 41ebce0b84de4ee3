import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { repetitions } from '../../test/harness/tier.ts';
import { decibels, fitTone, resampleByDefinition, tone } from '../../test/reference/resampler.ts';
import { bits } from '../../tools/harness/media/sample-runs.ts';
import type { Float32Samples, Int16Samples } from '../contract/engines/audio.ts';
import { Resampler, resample } from './resampler.ts';

const PAIRS = [
  [48_000, 8_000],
  [8_000, 48_000],
  [24_000, 8_000],
  [24_000, 48_000],
  [22_050, 24_000],
  [44_100, 16_000],
  [8_000, 47_999],
  [47_999, 8_000],
  [16_001, 16_000],
] as const;

function join<Samples extends Float32Samples | Int16Samples>(parts: readonly Samples[]): number[] {
  return parts.flatMap((part) => [...part]);
}

/** Resamples 0.2 s of a tone and returns the steady part, without the first and last fifth. */
function steadyTone(resampler: Resampler<'float32'>, hz: number): Float64Array {
  const input = Float32Array.from(tone(hz, resampler.fromHz, Math.round(resampler.fromHz * 0.2)));
  const output = join([resampler.push(input), resampler.flush()]);
  const edge = Math.round(output.length / 5);
  return Float64Array.from(output.slice(edge, -edge));
}

describe.each(PAIRS)('%i to %i Hz', (fromHz, toHz) => {
  const nyquistHz = Math.min(fromHz, toHz) / 2;

  describe.each([false, true])('portable kernel: %s', (portable) => {
    const resampler = new Resampler({ fromHz, toHz, format: 'float32', portable });

    test('the pass-band is flat within 0.05 dB and images are 100 dB down, up to 0.9 of the lower Nyquist frequency', () => {
      for (const part of [0.001, 0.1, 0.37, 0.62, 0.8, 0.88, 0.9]) {
        const hz = nyquistHz * part;
        const { amplitude, rest } = fitTone(steadyTone(resampler, hz), hz, toHz);
        expect(Math.abs(decibels(amplitude))).toBeLessThan(0.05);
        expect(decibels(rest)).toBeLessThan(-100);
      }
    });

    test('the transition band does not produce images', () => {
      for (const part of [0.93, 0.97, 0.99]) {
        const hz = nyquistHz * part;
        expect(decibels(fitTone(steadyTone(resampler, hz), hz, toHz).rest)).toBeLessThan(-100);
      }
    });

    // A higher output rate preserves every input frequency, so no stop-band exists.
    if (fromHz > toHz) {
      test('the stop-band is 100 dB down from the lower Nyquist frequency on', () => {
        for (const part of [0.0001, 0.03, 0.2, 0.5, 0.9, 0.99]) {
          const output = steadyTone(resampler, nyquistHz + (fromHz / 2 - nyquistHz) * part);
          const power = output.reduce((sum, sample) => sum + sample * sample, 0) / output.length;
          expect(decibels(Math.sqrt(2 * power))).toBeLessThan(-100);
        }
      });
    }
  });

  test('the output equals the filter definition from the first to the last sample', () => {
    const input = Float32Array.from(tone(nyquistHz * 0.31, fromHz, 500, 1), (sample, n) =>
      n % 97 === 0 ? 1 : 0.6 * sample,
    );
    const expected = resampleByDefinition(input, fromHz, toHz);
    for (const portable of [false, true]) {
      const resampler = new Resampler({ fromHz, toHz, format: 'float32', portable });
      const output = join([resampler.push(input), resampler.flush()]);
      expect(output.length).toBe(expected.length);
      const worst = output.reduce(
        (max, sample, n) => Math.max(max, Math.abs(sample - (expected[n] ?? 0))),
        0,
      );
      expect(worst).toBeLessThan(2e-6);
    }
  });
});

const anyRate = fc.integer({ min: 8_000, max: 48_000 });
const rates = fc.oneof(fc.constantFrom(...PAIRS), fc.tuple(anyRate, anyRate));
const cuts = fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 12 });

/** Pushes `input` in pieces of the given lengths, followed by the rest. */
function pushInPieces<Samples extends Float32Samples | Int16Samples>(
  input: Samples,
  lengths: readonly number[],
  push: (piece: Samples) => Samples,
): Samples[] {
  const parts: Samples[] = [];
  let at = 0;
  for (const length of [...lengths, input.length]) {
    parts.push(push(input.slice(at, at + length) as Samples));
    at += length;
  }
  return parts;
}

describe('splitting the input', () => {
  test('does not change float32 output by a single bit', () => {
    const samples = fc.float32Array({ min: -1, max: 1, noNaN: true, maxLength: 3_000, size: 'max' });
    fc.assert(
      fc.property(rates, samples, cuts, fc.boolean(), ([fromHz, toHz], noise, lengths, portable) => {
        const resampler = new Resampler({ fromHz, toHz, format: 'float32', portable });
        const input = Float32Array.from(noise);
        const whole = bits(resampler.push(input), resampler.flush());
        const parts = pushInPieces(input, lengths, (piece) => resampler.push(piece));
        expect(bits(...parts, resampler.flush())).toBe(whole);
      }),
      { numRuns: repetitions(10, 60) },
    );
  });

  test('does not change int16 output, and the length is exact', () => {
    const samples = fc.int16Array({ maxLength: 3_000, size: 'max' });
    fc.assert(
      fc.property(rates, samples, cuts, ([fromHz, toHz], noise, lengths) => {
        const resampler = new Resampler({ fromHz, toHz, format: 'int16' });
        const input = Int16Array.from(noise);
        const whole = [resampler.push(input), resampler.flush()];
        const length = whole.reduce((sum, part) => sum + part.length, 0);
        expect(length).toBe(Math.floor((input.length * toHz) / fromHz + 0.5));
        const parts = pushInPieces(input, lengths, (piece) => resampler.push(piece));
        expect(bits(...parts, resampler.flush())).toBe(bits(...whole));
      }),
      { numRuns: repetitions(10, 60) },
    );
  });

  test('into single samples works across more than one inner block', () => {
    const input = Int16Array.from(tone(440, 48_000, 9_000), (sample) => Math.round(sample * 20_000));
    const resampler = new Resampler({ fromHz: 48_000, toHz: 16_000, format: 'int16' });
    const whole = join([resampler.push(input), resampler.flush()]);
    const singles = Array.from(input, (sample) => resampler.push(Int16Array.of(sample)));
    expect(join([...singles, resampler.flush()])).toEqual(whole);
  });
});

test('the AVX2 and portable kernels produce equal output', () => {
  const input = Float32Array.from(tone(1_234, 44_100, 4_000));
  const outputs = [false, true].map((portable) => {
    const resampler = new Resampler({ fromHz: 44_100, toHz: 47_999, format: 'float32', portable });
    return { kernel: resampler.kernel, samples: join([resampler.push(input), resampler.flush()]) };
  });
  const [fast, portable] = outputs;
  expect(portable?.kernel).toBe('portable');
  expect(fast?.samples.length).toBe(portable?.samples.length);
  fast?.samples.forEach((sample, n) => {
    expect(Math.abs(sample - (portable?.samples[n] ?? 9))).toBeLessThan(1e-6);
  });
});

test('int16 output is the rounded and saturated float output', () => {
  const square = Int16Array.from({ length: 2_000 }, (_, n) =>
    Math.floor(n / 50) % 2 === 0 ? 32_767 : -32_768,
  );
  const int16 = new Resampler({ fromHz: 8_000, toHz: 24_000, format: 'int16' });
  const float32 = new Resampler({ fromHz: 8_000, toHz: 24_000, format: 'float32' });
  const rounded = join([int16.push(square), int16.flush()]);
  const exact = join([float32.push(Float32Array.from(square)), float32.flush()]);
  expect(Math.max(...exact)).toBeGreaterThan(33_000); // the edges of a square wave overshoot
  expect(rounded.length).toBe(exact.length);
  rounded.forEach((sample, n) => {
    const limited = Math.min(32_767, Math.max(-32_768, exact[n] ?? 0));
    expect(Math.abs(sample - limited)).toBeLessThanOrEqual(0.5);
  });
});

test('push returns all samples that the latency allows', () => {
  fc.assert(
    fc.property(rates, fc.integer({ min: 0, max: 2_000 }), ([fromHz, toHz], length) => {
      const resampler = new Resampler({ fromHz, toHz, format: 'float32' });
      const given = resampler.push(new Float32Array(length)).length;
      // Output n is available once input floor(n · from / to) + latency was pushed.
      const ready = (n: number) => Math.floor((n * fromHz) / toHz) + resampler.latencySamples < length;
      if (fromHz === toHz) expect([given, resampler.latencySamples]).toEqual([length, 0]);
      else if (given > 0) expect([ready(given - 1), ready(given)]).toEqual([true, false]);
      else expect(ready(0)).toBe(false);
    }),
  );
});

test('the latency stays within 9 ms at the lower rate', () => {
  for (const [fromHz, toHz] of PAIRS) {
    const { latencySamples } = new Resampler({ fromHz, toHz, format: 'int16' });
    expect((latencySamples * 1_000) / fromHz).toBeLessThanOrEqual(72_000 / Math.min(fromHz, toHz) + 0.5);
  }
});

test('flush and reset both start a new stream', () => {
  const resampler = new Resampler({ fromHz: 22_050, toHz: 24_000, format: 'float32' });
  const input = Float32Array.from(tone(500, 22_050, 1_000));
  const first = join([resampler.push(input), resampler.flush()]);
  expect(resampler.flush().length).toBe(0);
  resampler.push(Float32Array.from(tone(900, 22_050, 333)));
  resampler.reset();
  expect(join([resampler.push(input), resampler.flush()])).toEqual(first);
});

test('equal rates pass samples through unchanged', () => {
  const resampler = new Resampler({ fromHz: 24_000, toHz: 24_000, format: 'float32' });
  const input = Float32Array.of(0.1, -1.5, 3e-9, 1e9);
  expect(resampler.push(input)).toEqual(input);
  expect(resampler.flush()).toEqual(new Float32Array(0));
});

test('NaN and infinities do not affect later output', () => {
  const resampler = new Resampler({ fromHz: 8_000, toHz: 16_000, format: 'float32' });
  const input = new Float32Array(1_000).fill(0.25);
  input[100] = NaN;
  input[101] = Infinity;
  const output = join([resampler.push(input), resampler.flush()]);
  expect(output.some(Number.isNaN)).toBe(true);
  expect(output.slice(600, 1_600).every((sample) => Math.abs(sample - 0.25) < 1e-4)).toBe(true);
});

test('rates that are not integers or out of range are rejected', () => {
  for (const rate of [7_999, 48_001, 0, -8_000, 16_000.5, NaN, Infinity]) {
    expect(() => new Resampler({ fromHz: rate, toHz: 16_000, format: 'int16' })).toThrow(RangeError);
    expect(() => new Resampler({ fromHz: 16_000, toHz: rate, format: 'int16' })).toThrow(
      'toHz must be an integer from 8000 to 48000',
    );
  }
});

test('calls after close are rejected, and close is idempotent', () => {
  const resampler = new Resampler({ fromHz: 8_000, toHz: 16_000, format: 'int16' });
  resampler.close();
  resampler.close();
  expect(() => resampler.push(new Int16Array(1))).toThrow(new TypeError('the resampler is closed'));
  expect(() => resampler.flush()).toThrow(TypeError);
  expect(() => resampler.reset()).toThrow(TypeError);
  expect(() => resampler.kernel).toThrow(TypeError);
});

test('a whole signal is converted like a stream', () => {
  const input = Float32Array.from(tone(440, 24_000, 4_800));
  const resampler = new Resampler({ fromHz: 24_000, toHz: 16_000, format: 'float32' });
  const output = join([resampler.push(input), resampler.flush()]);
  expect([...resample(input, 24_000, 16_000)]).toEqual(output);
  expect(resample(input, 24_000, 24_000)).toBe(input);
});
