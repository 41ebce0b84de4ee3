/** Formats of audio in the buffers. Audio is always mono. */

import type { Encoding } from '../audio/codec.ts';
import { type Float32Samples, LISTEN_RATE_HZ } from '../contract/engines/audio.ts';

export type { Encoding } from '../audio/codec.ts';

/** Format of received audio. */
export interface AudioFormat {
  readonly encoding: Encoding;
  readonly rateHz: number;
}

/** Format of the samples that detectors and transcription engines read. */
export const LISTEN_FORMAT = { encoding: 'float32', rateHz: LISTEN_RATE_HZ } as const;

export type QueueFormat = AudioFormat | typeof LISTEN_FORMAT;

const SAMPLE_BYTES = { pcm16: 2, mulaw: 1, alaw: 1, float32: 4 } as const;

/** Returns the size of one sample in bytes: 2 for linear PCM, 1 for G.711 (spec 4.7, rule 3), 4 for floats. */
export function sampleBytes({ encoding }: QueueFormat): number {
  return SAMPLE_BYTES[encoding];
}

export function sameFormat(one: AudioFormat, other: AudioFormat): boolean {
  return one.encoding === other.encoding && one.rateHz === other.rateHz;
}

/** Returns the bytes of samples, without a copy. */
export function bytesOf({ buffer, byteOffset, byteLength }: Float32Samples): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Returns the samples of bytes in {@link LISTEN_FORMAT}, without a copy. */
export function samplesOf({ buffer, byteOffset, byteLength }: Uint8Array): Float32Samples {
  return new Float32Array(buffer as ArrayBuffer, byteOffset, byteLength / Float32Array.BYTES_PER_ELEMENT);
}
