/** WAV files (RIFF) with 16-bit mono PCM. */

import type { Float32Samples, Int16Samples } from '../contract/engines/audio.ts';
import { decodeToFloat32, encodeAudio } from './codec.ts';

/** Size of the header returned by {@link wavHeader}, in bytes. */
export const WAV_HEADER_BYTES = 44;
/** Offsets of fields in the header, in bytes. */
const RIFF_SIZE_OFFSET = 4;
const RATE_OFFSET = 24;
const DATA_SIZE_OFFSET = 40;
const UNKNOWN_SIZE = 0xffff_ffff;
/** Maximum size of the sample data in bytes: the largest even number that fits the RIFF size field. */
export const MAX_WAV_DATA_BYTES = 0xffff_ffff - (WAV_HEADER_BYTES - 8) - 1;

/**
 * Returns the header of a mono 16-bit PCM WAV file (RIFF, a 16-byte fmt chunk with format tag 1, then the
 * data chunk). The little-endian samples follow it.
 * @param dataBytes size of the samples in bytes: even, at max {@link MAX_WAV_DATA_BYTES}.
 * @throws RangeError if a size or rate does not fit the header.
 */
export function wavHeader(dataBytes: number, rateHz: number): Uint8Array<ArrayBuffer> {
  if (
    !Number.isInteger(dataBytes) ||
    dataBytes < 0 ||
    dataBytes > MAX_WAV_DATA_BYTES ||
    dataBytes % 2 !== 0
  ) {
    throw new RangeError(
      `WAV data must be an even number of bytes up to ${MAX_WAV_DATA_BYTES}, got ${dataBytes}`,
    );
  }
  if (!Number.isInteger(rateHz) || rateHz < 1 || rateHz > 0x7fff_ffff) {
    throw new RangeError(`WAV rate must be a positive integer in Hz, got ${rateHz}`);
  }
  const header = new Uint8Array(WAV_HEADER_BYTES);
  const view = new DataView(header.buffer);
  const ascii = (text: string, at: number) => {
    for (let i = 0; i < text.length; i++) header[at + i] = text.charCodeAt(i);
  };
  ascii('RIFF', 0);
  view.setUint32(RIFF_SIZE_OFFSET, WAV_HEADER_BYTES - 8 + dataBytes, true);
  ascii('WAVEfmt ', 8);
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true); // PCM
  view.setUint16(22, 1, true); // channels
  view.setUint32(RATE_OFFSET, rateHz, true);
  view.setUint32(28, rateHz * 2, true); // bytes per second
  view.setUint16(32, 2, true); // bytes per frame
  view.setUint16(34, 16, true); // bits per sample
  ascii('data', 36);
  view.setUint32(DATA_SIZE_OFFSET, dataBytes, true);
  return header;
}

/**
 * Returns the header of a WAV file whose length is not known yet, as FFmpeg writes it to a pipe: both sizes have the maximum value,
 * so readers continue to the end of the file.
 * @throws RangeError if the rate does not fit the header.
 */
export function streamedWavHeader(rateHz: number): Uint8Array<ArrayBuffer> {
  const header = wavHeader(0, rateHz);
  const view = new DataView(header.buffer);
  view.setUint32(RIFF_SIZE_OFFSET, UNKNOWN_SIZE, true);
  view.setUint32(DATA_SIZE_OFFSET, UNKNOWN_SIZE, true);
  return header;
}

/**
 * Returns the WAV file of little-endian 16-bit samples.
 * @throws RangeError as {@link wavHeader}.
 */
export function pcmToWav(pcm: Uint8Array, rateHz: number): Buffer<ArrayBuffer> {
  return Buffer.concat([wavHeader(pcm.length, rateHz), pcm]);
}

/** Mono audio. */
export interface WavContent {
  readonly samples: Float32Samples;
  readonly rateHz: number;
}

/**
 * Encodes a WAV file. Float values beyond full scale are clipped.
 * @throws RangeError if there are more than 2^24 samples.
 */
export function encodeWav(samples: Int16Samples | Float32Samples, rateHz: number): Buffer<ArrayBuffer> {
  return pcmToWav(encodeAudio(samples, 'pcm16'), rateHz);
}

/** Decodes a file whose header is that of {@link wavHeader}. */
export function decodeWav(wav: Uint8Array): WavContent {
  const rateHz = new DataView(wav.buffer, wav.byteOffset).getUint32(RATE_OFFSET, true);
  return { samples: decodeToFloat32(wav.subarray(WAV_HEADER_BYTES), 'pcm16'), rateHz };
}
