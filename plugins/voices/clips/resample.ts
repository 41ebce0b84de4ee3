import { Resampler } from '../../../src/audio/resampler.ts';
import { type Float32Samples, LISTEN_RATE_HZ } from '../../../src/contract/engines/audio.ts';

/**
 * Mono samples at {@link LISTEN_RATE_HZ}. Half a second of them takes the thread about a millisecond; then it is
 * everybody else's turn.
 * @param rateHz of the samples, whole, 8,000 to 48,000 Hz.
 */
export async function atListenRate(samples: Float32Samples, rateHz: number): Promise<Float32Samples> {
  if (rateHz === LISTEN_RATE_HZ) return samples;
  const resampler = new Resampler({ fromHz: rateHz, toHz: LISTEN_RATE_HZ, format: 'float32' });
  const runs: Float32Samples[] = [];
  try {
    const step = Math.ceil(rateHz / 2);
    for (let at = 0; at < samples.length; at += step) {
      runs.push(resampler.push(samples.subarray(at, at + step)));
      await new Promise((resolve) => setImmediate(resolve));
    }
    runs.push(resampler.flush());
  } finally {
    resampler.close();
  }
  return inOne(runs);
}

/** Runs of samples as one. */
export function inOne(runs: readonly Float32Samples[]): Float32Samples {
  const samples = new Float32Array(runs.reduce((sum, run) => sum + run.length, 0));
  let at = 0;
  for (const run of runs) {
    samples.set(run, at);
    at += run.length;
  }
  return samples;
}
