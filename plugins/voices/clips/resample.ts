import { concatenate } from '../../../src/audio/concatenate.ts';
import { Resampler } from '../../../src/audio/resampler.ts';
import { type Float32Samples, LISTEN_RATE_HZ } from '../../../src/contract/engines/audio.ts';

/**
 * Resamples mono samples to {@link LISTEN_RATE_HZ}. Yields to the event loop after each half second of audio, which takes
 * about a millisecond.
 * @param rateHz rate of the samples, an integer from 8,000 to 48,000 Hz.
 */
export async function resampleToListenRate(samples: Float32Samples, rateHz: number): Promise<Float32Samples> {
  if (rateHz === LISTEN_RATE_HZ) return samples;
  const resampler = new Resampler({ fromHz: rateHz, toHz: LISTEN_RATE_HZ, format: 'float32' });
  const chunks: Float32Samples[] = [];
  try {
    const step = Math.ceil(rateHz / 2);
    for (let at = 0; at < samples.length; at += step) {
      chunks.push(resampler.push(samples.subarray(at, at + step)));
      await new Promise((resolve) => setImmediate(resolve));
    }
    chunks.push(resampler.flush());
  } finally {
    resampler.close();
  }
  return concatenate(chunks);
}
