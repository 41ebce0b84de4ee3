/** The storage format of clips: WAV, 16-bit mono, with the header of `wavHeader`. */

import { decodeToFloat32, encodeAudio } from '../../../src/audio/codec.ts';
import { WAV_HEADER_BYTES, wavHeader } from '../../../src/audio/wav.ts';
import type { Float32Samples } from '../../../src/contract/engines/audio.ts';

/** Offset of the sample rate in the header, in bytes. */
const RATE_OFFSET = 24;

/** Mono audio. */
export interface ClipSamples {
  readonly samples: Float32Samples;
  readonly rateHz: number;
}

/** Encodes a clip. Values beyond full scale are clipped. */
export function clipWav({ samples, rateHz }: ClipSamples): Uint8Array<ArrayBuffer> {
  const data = encodeAudio(samples, 'pcm16');
  return Buffer.concat([wavHeader(data.length, rateHz), data]);
}

/** Decodes a clip of {@link clipWav}. */
export function readClip(wav: Uint8Array<ArrayBuffer>): ClipSamples {
  const rateHz = new DataView(wav.buffer, wav.byteOffset).getUint32(RATE_OFFSET, true);
  return { samples: decodeToFloat32(wav.subarray(WAV_HEADER_BYTES), 'pcm16'), rateHz };
}

/** A stream of one chunk. */
export async function* singleChunk(
  bytes: Uint8Array<ArrayBuffer>,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  yield bytes;
}
