/** The clip of a voice as it is kept: WAV, 16-bit mono, with the header of `wavHeader`. */

import { decodeToFloat32, encodeAudio } from '../../src/audio/codec.ts';
import { Resampler } from '../../src/audio/resampler.ts';
import { WAV_HEADER_BYTES, wavHeader } from '../../src/audio/wav.ts';
import { type Float32Samples, LISTEN_RATE_HZ } from '../../src/contract/audio.ts';

/** Where the header tells the rate. */
const RATE_OFFSET = 24;

/** What lies beyond full scale is cut off. */
export function clipWav(samples: Float32Samples, rateHz: number): Uint8Array<ArrayBuffer> {
  const data = encodeAudio(samples, 'pcm16');
  return Buffer.concat([wavHeader(data.length, rateHz), data]);
}

/**
 * The samples of a clip at {@link LISTEN_RATE_HZ}; the longest takes the thread a few milliseconds.
 * @param wav of {@link clipWav}.
 */
export function heardClip(wav: Uint8Array<ArrayBuffer>): Float32Samples {
  const fromHz = new DataView(wav.buffer, wav.byteOffset).getUint32(RATE_OFFSET, true);
  const samples = decodeToFloat32(wav.subarray(WAV_HEADER_BYTES), 'pcm16');
  if (fromHz === LISTEN_RATE_HZ) return samples;
  const resampler = new Resampler({ fromHz, toHz: LISTEN_RATE_HZ, format: 'float32' });
  try {
    const most = resampler.push(samples);
    const rest = resampler.flush();
    const heard = new Float32Array(most.length + rest.length);
    heard.set(most);
    heard.set(rest, most.length);
    return heard;
  } finally {
    resampler.close();
  }
}

/** Bytes as what stores write and answers are made of. */
export async function* inOnePiece(
  bytes: Uint8Array<ArrayBuffer>,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  yield bytes;
}
