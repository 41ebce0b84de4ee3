/** Functions on arrays of samples for tests and measurements. */

import type { Float32Samples, Int16Samples } from '../../../src/contract/engines/audio.ts';
import { seededRandom } from '../../../src/kit/math/seeded-random.ts';

/** Concatenates arrays of samples. */
export function joined(runs: readonly Float32Array[]): Float32Samples {
  const all = new Float32Array(runs.reduce((sum, run) => sum + run.length, 0));
  let at = 0;
  for (const run of runs) {
    all.set(run, at);
    at += run.length;
  }
  return all;
}

/** Length and bit pattern of consecutive arrays, which compare much faster than the samples. */
export function bits(...runs: readonly (Float32Samples | Int16Samples)[]): string {
  const bytes = Buffer.concat(
    runs.map(({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength)),
  );
  return `${bytes.length} ${Bun.hash(bytes)}`;
}

/** Adds deterministic uniform noise. @param levelDb mean square level in dB relative to full scale. */
export function withNoise(samples: Float32Samples, levelDb: number): Float32Samples {
  const amplitude = 10 ** (levelDb / 20) * Math.sqrt(3);
  const random = seededRandom(1);
  return samples.map((sample) => sample + amplitude * (2 * random() - 1));
}
