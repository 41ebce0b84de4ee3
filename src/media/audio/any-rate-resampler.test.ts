import { describe, expect, test } from 'vitest';
import { loudnessDb } from '../../../test/media/audio-checks.ts';
import { sine } from '../../../tools/harness/media/wav-files.ts';
import type { Float32Samples } from '../../contract/engines/audio.ts';
import { AnyRateResampler, isConvertible } from './any-rate-resampler.ts';

function convert(samples: Float32Samples, fromHz: number, toHz: number, pushSamples = 4096): Float32Array {
  const resampler = new AnyRateResampler(fromHz, toHz);
  const parts: Float32Samples[] = [];
  for (let at = 0; at < samples.length; at += pushSamples) {
    parts.push(resampler.push(samples.slice(at, at + pushSamples)));
  }
  parts.push(...resampler.flush());
  resampler.close();
  return Float32Array.from(parts.flatMap((part) => [...part]));
}

/**
 * Maximum absolute difference, ignoring both ends, where the filter includes the silence around the signal.
 */
function largestDifference(a: Float32Array, b: Float32Array, edge: number): number {
  let largest = 0;
  for (let i = edge; i < Math.min(a.length, b.length) - edge; i++) {
    largest = Math.max(largest, Math.abs((a[i] ?? 0) - (b[i] ?? 0)));
  }
  return largest;
}

test.each([
  2000, 4000, 5512, 7350, 7999, 8000, 11_025, 22_050, 44_100, 48_000, 50_000, 64_000, 88_200, 96_000, 176_400,
  192_000, 352_800, 384_000, 768_000,
])('%d Hz is converted to 16 kHz with the same duration, level and timing', (fromHz) => {
  const out = convert(sine(0.5, fromHz, 440), fromHz, 16_000);
  expect(Math.abs(out.length - 8000)).toBeLessThanOrEqual(1);
  expect(largestDifference(out, sine(0.5, 16_000, 440), 600)).toBeLessThan(2e-3);
});

test('frequencies above 8 kHz do not alias from 192 kHz', () => {
  const out = convert(sine(0.25, 192_000, 30_000), 192_000, 16_000);
  expect(loudnessDb(out.subarray(500, out.length - 500))).toBeLessThan(-80);
});

test('the output is bit-identical for any chunk sizes', () => {
  const tone = sine(0.1, 192_000, 1000);
  expect(convert(tone, 192_000, 24_000, 7)).toEqual(convert(tone, 192_000, 24_000, 19_200));
});

describe('unsupported rates', () => {
  test.each([0, 1999, 8000.5, 50_021, 768_001, 4_294_967_295, Number.NaN])('%d Hz', (rateHz) => {
    expect(isConvertible(rateHz)).toBe(false);
    expect(() => new AnyRateResampler(rateHz, 16_000)).toThrow(RangeError);
  });
});
