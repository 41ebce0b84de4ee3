/** Mono 16-bit WAV files of the corpus, in and out. */

import { decodeToFloat32, encodeAudio, float32ToInt16 } from '../../src/audio/codec.ts';
import { Resampler } from '../../src/audio/resampler.ts';
import { WAV_HEADER_BYTES, wavHeader } from '../../src/audio/wav.ts';
import { type Float32Samples, LISTEN_RATE_HZ } from '../../src/contract/engines/audio.ts';
import { joined } from '../../tools/harness/media/sample-runs.ts';

/** Reads a file with a header of 44 bytes, as everything that makes the corpus writes it. */
export async function readWav(path: string): Promise<Float32Samples> {
  return pcmSamples((await Bun.file(path).bytes()).subarray(WAV_HEADER_BYTES));
}

/** Little-endian 16-bit samples as floats. */
export function pcmSamples(bytes: Uint8Array): Float32Samples {
  return decodeToFloat32(bytes, 'pcm16');
}

/** Writes samples at {@link LISTEN_RATE_HZ}; what is above full scale is clipped. */
export async function writeWav(path: string, samples: Float32Samples): Promise<void> {
  await Bun.write(path, wavBytes(samples));
}

/** A whole WAV file; what is above full scale is clipped. */
export function wavBytes(samples: Float32Samples, rateHz = LISTEN_RATE_HZ): Uint8Array<ArrayBuffer> {
  const data = encodeAudio(float32ToInt16(samples), 'pcm16');
  return new Uint8Array(Buffer.concat([wavHeader(data.byteLength, rateHz), data]));
}

/** The same sound at {@link LISTEN_RATE_HZ}. */
export function toListenRate(samples: Float32Samples, fromHz: number): Float32Samples {
  const resampler = new Resampler({ fromHz, toHz: LISTEN_RATE_HZ, format: 'float32' });
  const converted = joined([resampler.push(samples), resampler.flush()]);
  resampler.close();
  return converted;
}
