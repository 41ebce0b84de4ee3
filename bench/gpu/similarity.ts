/** Similarity of two renderings of the same text. */

import type { Float32Samples } from '../../src/contract/engines/audio.ts';
import { mean } from '../statistics.ts';

/** 10 ms at 24 kHz. */
const FRAME_SAMPLES = 240;

export interface Similarity {
  /** Difference of the lengths in samples. */
  readonly lengthDifference: number;
  /** Correlation of the loudness of frames of 10 ms. */
  readonly envelopeCorrelation: number;
  /** Correlation of the samples. */
  readonly sampleCorrelation: number;
  /** Difference of the level in dB. */
  readonly levelDifferenceDb: number;
}

export function similarity(one: Float32Samples, other: Float32Samples): Similarity {
  return {
    lengthDifference: Math.abs(one.length - other.length),
    envelopeCorrelation: correlation(envelope(one), envelope(other)),
    sampleCorrelation: correlation([...one], [...other]),
    levelDifferenceDb: 20 * Math.abs(Math.log10(rms(one) / rms(other))),
  };
}

function envelope(samples: Float32Samples): number[] {
  return Array.from({ length: Math.floor(samples.length / FRAME_SAMPLES) }, (_, at) =>
    rms(samples.subarray(at * FRAME_SAMPLES, (at + 1) * FRAME_SAMPLES)),
  );
}

function rms(samples: Float32Samples): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return Math.sqrt(sum / samples.length);
}

/** Pearson correlation of the common start of two series. */
function correlation(one: readonly number[], other: readonly number[]): number {
  const length = Math.min(one.length, other.length);
  const [x, y] = [one.slice(0, length), other.slice(0, length)];
  const [meanX, meanY] = [mean(x), mean(y)];
  let [xy, xx, yy] = [0, 0, 0];
  for (const [at, value] of x.entries()) {
    const [dx, dy] = [value - meanX, (y[at] ?? 0) - meanY];
    xy += dx * dy;
    xx += dx * dx;
    yy += dy * dy;
  }
  return xy / Math.sqrt(xx * yy);
}
