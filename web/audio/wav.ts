/** Reads and writes WAV files with 16-bit mono PCM. */

import type { Samples } from './pcm.ts';

const HEADER_BYTES = 44;

/** Creates a WAV file from consecutive chunks. */
export function wavFile(chunks: readonly Samples[], rateHz: number): Blob {
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  const view = new DataView(new ArrayBuffer(HEADER_BYTES + length * 2));
  const ascii = (text: string, at: number) => {
    for (let i = 0; i < text.length; i += 1) view.setUint8(at + i, text.charCodeAt(i));
  };
  ascii('RIFF', 0);
  view.setUint32(4, view.byteLength - 8, true);
  ascii('WAVEfmt ', 8);
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true); // PCM
  view.setUint16(22, 1, true); // channels
  view.setUint32(24, rateHz, true);
  view.setUint32(28, rateHz * 2, true); // bytes per second
  view.setUint16(32, 2, true); // bytes per sample
  view.setUint16(34, 16, true); // bits per sample
  ascii('data', 36);
  view.setUint32(40, length * 2, true);
  let at = HEADER_BYTES;
  for (const chunk of chunks) {
    for (const sample of chunk) {
      view.setInt16(at, sample, true);
      at += 2;
    }
  }
  return new Blob([view.buffer], { type: 'audio/wav' });
}

export interface WavContent {
  readonly samples: Samples;
  readonly rateHz: number;
}

/**
 * Reads a 16-bit mono WAV file; other chunks are skipped.
 * @throws Error for any other format.
 */
export function readWav(file: ArrayBuffer): WavContent {
  const view = new DataView(file);
  let rateHz: number | undefined;
  for (let at = 12; at + 8 <= file.byteLength; ) {
    const name = view.getUint32(at);
    const size = view.getUint32(at + 4, true);
    if (name === FMT) {
      const [kind, channels, bits] = [8, 10, 22].map((offset) => view.getUint16(at + offset, true));
      if (kind !== 1 || channels !== 1 || bits !== 16) break;
      rateHz = view.getUint32(at + 12, true);
    } else if (name === DATA && rateHz !== undefined) {
      const begin = at + 8;
      const length = Math.floor(Math.min(size, file.byteLength - begin) / 2);
      const samples = Int16Array.from({ length }, (_, i) => view.getInt16(begin + i * 2, true));
      return { samples, rateHz };
    }
    at += 8 + size + (size % 2);
  }
  throw new Error('Not a WAV file with 16-bit mono PCM.');
}

/** Chunk ids in little-endian byte order. */
const FMT = 0x666d_7420;
const DATA = 0x6461_7461;
