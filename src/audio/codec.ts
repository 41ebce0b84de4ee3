/**
 * Conversion between sample formats and G.711, with one native call per buffer. Full scale is ±1 for float
 * and ±32,768 for int16.
 */

import type { Float32Samples, Int16Samples } from '../contract/engines/audio.ts';
import { type Encoding, native } from './native.ts';

export type { Encoding } from './native.ts';

/**
 * Encodes samples: two bytes per sample for `pcm16`, one for `mulaw` and `alaw` (ITU-T G.711). Float samples
 * are first rounded as in {@link float32ToInt16}.
 * @throws RangeError if there are more than 2^24 samples.
 */
export function encodeAudio(
  samples: Int16Samples | Float32Samples,
  encoding: Encoding,
): Uint8Array<ArrayBuffer> {
  return native.encode(encoding, samples);
}

/**
 * Decodes bytes, at any alignment, to 16-bit samples.
 * @throws RangeError if `pcm16` has an odd number of bytes, or if there are more than 2^24 bytes.
 */
export function decodeToInt16(bytes: Uint8Array, encoding: Encoding): Int16Samples {
  return native.decode(encoding, bytes, 'int16') as Int16Samples;
}

/** Like {@link decodeToInt16}, scaled to -1…1. */
export function decodeToFloat32(bytes: Uint8Array, encoding: Encoding): Float32Samples {
  return native.decode(encoding, bytes, 'float32') as Float32Samples;
}

/** Rounds to the nearest 16-bit sample, ties to even, and saturates. NaN becomes 0. */
export function float32ToInt16(samples: Float32Samples): Int16Samples {
  return native.float32ToInt16(samples);
}

/** Divides by 32,768. The conversion is exact: {@link float32ToInt16} restores the samples. */
export function int16ToFloat32(samples: Int16Samples): Float32Samples {
  return native.int16ToFloat32(samples);
}
