import { describe, expect, it } from 'vitest';
import { type Float32Samples, LISTEN_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import { withNoise } from '../../../tools/harness/media/sample-runs.ts';
import { sine } from '../../../tools/harness/media/wav-files.ts';
import { clippedShare, clipWarnings } from './clip-warnings.ts';

const SPANS = [
  { start: LISTEN_RATE_HZ, end: 3 * LISTEN_RATE_HZ },
  { start: 4 * LISTEN_RATE_HZ, end: 6 * LISTEN_RATE_HZ },
];

/** Seven seconds with a tone in the spans. */
function clip(level: number): Float32Samples {
  const samples = new Float32Array(7 * LISTEN_RATE_HZ);
  for (const { start, end } of SPANS)
    samples.set(sine(2, LISTEN_RATE_HZ, 220, level).subarray(0, end - start), start);
  return samples;
}
const cutOff = (samples: Float32Samples) => samples.map((sample) => Math.max(-1, Math.min(1, sample)));
const codesOf = (samples: Float32Samples) =>
  clipWarnings({ samples, resampled: samples, spans: SPANS }).map(({ code }) => code);

describe('a clip', () => {
  it('without problems has no warnings', () => {
    expect(codesOf(clip(0.5))).toEqual([]);
    expect(codesOf(withNoise(clip(0.5), -60))).toEqual([]);
  });

  it('that touches full scale is not clipped', () => {
    const loud = clip(0.9);
    for (let at = 0; at < loud.length; at += 100) loud.fill(1, at, at + 2);
    expect(clippedShare(loud)).toBe(0);
  });

  it.each([1.1, 2, 10])('that is clipped at 1 of %d has a warning', (level) => {
    expect(codesOf(cutOff(clip(level)))).toEqual(['clipping']);
  });

  it('with noise has a warning with the signal-to-noise ratio', () => {
    // The tone has a level of -9 dB.
    const [warning] = clipWarnings({
      samples: clip(0.5),
      resampled: withNoise(clip(0.5), -21),
      spans: SPANS,
    });
    expect(warning).toMatchObject({ code: 'noise', message: expect.stringMatching(/only 1[23] dB/) });
    expect(codesOf(withNoise(clip(0.5), -24))).toEqual(['noise']);
    expect(codesOf(withNoise(clip(0.5), -30))).toEqual([]);
  });

  it('can have both warnings', () => {
    expect(codesOf(cutOff(withNoise(clip(2), -10)))).toEqual(['clipping', 'noise']);
  });
});
