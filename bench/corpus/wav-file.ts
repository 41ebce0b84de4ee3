/** WAV files of the corpus. */

import { Resampler } from '../../src/audio/resampler.ts';
import { decodeWav, encodeWav } from '../../src/audio/wav.ts';
import { type Float32Samples, LISTEN_RATE_HZ } from '../../src/contract/engines/audio.ts';
import { joined } from '../../tools/harness/media/sample-runs.ts';

/** Reads a file with a header of 44 bytes, which all programs that create the corpus write. */
export async function readWav(path: string): Promise<Float32Samples> {
  return decodeWav(await Bun.file(path).bytes()).samples;
}

/** Writes samples at {@link LISTEN_RATE_HZ}. Values beyond full scale are clipped. */
export async function writeWav(path: string, samples: Float32Samples): Promise<void> {
  await Bun.write(path, encodeWav(samples, LISTEN_RATE_HZ));
}

/** Resamples to {@link LISTEN_RATE_HZ}. */
export function toListenRate(samples: Float32Samples, fromHz: number): Float32Samples {
  const resampler = new Resampler({ fromHz, toHz: LISTEN_RATE_HZ, format: 'float32' });
  const converted = joined([resampler.push(samples), resampler.flush()]);
  resampler.close();
  return converted;
}
