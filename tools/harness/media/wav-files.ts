/** Valid and invalid WAV files of all formats. */

import { encodeAudio } from '../../../src/audio/codec.ts';
import type { Float32Samples } from '../../../src/contract/engines/audio.ts';

export interface WavShape {
  readonly kind: 'int' | 'float' | 'mulaw' | 'alaw';
  readonly bits: number;
  readonly rateHz: number;
  readonly channels: number;
  /** WAVE_FORMAT_EXTENSIBLE, which has the sample format in a GUID. */
  readonly extensible?: boolean;
  /** Incorrect header fields. */
  readonly claims?: {
    readonly tag?: number;
    readonly channels?: number;
    readonly rateHz?: number;
    readonly blockBytes?: number;
    readonly dataBytes?: number;
  };
}

const TAGS = { int: 1, float: 3, alaw: 6, mulaw: 7 } as const;
const EXTENSIBLE_TAG = 0xfffe;
/** The end of every KSDATAFORMAT_SUBTYPE GUID; the tag is its first two bytes. */
const GUID_TAIL = [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71];

/** A sine wave; level 1 is full scale. */
export function sine(seconds: number, rateHz: number, toneHz = 440, level = 0.5): Float32Samples {
  const step = (2 * Math.PI * toneHz) / rateHz;
  return Float32Array.from({ length: Math.round(seconds * rateHz) }, (_, i) => level * Math.sin(step * i));
}

/** A file with the same samples in all channels, or with those of `channelSamples(channel)`. */
export function wavFile(
  shape: WavShape,
  channelSamples: Float32Samples | ((channel: number) => Float32Samples),
): Uint8Array<ArrayBuffer> {
  const { kind, bits, rateHz, channels, extensible = false, claims = {} } = shape;
  const planes = Array.from({ length: channels }, (_, channel) =>
    typeof channelSamples === 'function' ? channelSamples(channel) : channelSamples,
  );
  const sampleBytes = bits / 8;
  const frames = planes[0]?.length ?? 0;
  const dataBytes = frames * channels * sampleBytes;
  const formatBytes = extensible ? 40 : 16;
  const dataStart = 12 + 8 + formatBytes + 8;
  const file = new Uint8Array(dataStart + dataBytes);
  const view = new DataView(file.buffer);
  const ascii = (text: string, at: number) => {
    for (let i = 0; i < text.length; i++) file[at + i] = text.charCodeAt(i);
  };
  const claimedChannels = claims.channels ?? channels;
  const claimedHz = claims.rateHz ?? rateHz;
  const claimedData = claims.dataBytes ?? dataBytes;
  const blockBytes = claims.blockBytes ?? (channels * sampleBytes) % 65_536;
  const tag = claims.tag ?? TAGS[kind];
  ascii('RIFF', 0);
  view.setUint32(4, Math.min(0xffff_ffff, dataStart - 8 + claimedData), true);
  ascii('WAVEfmt ', 8);
  view.setUint32(16, formatBytes, true);
  view.setUint16(20, extensible ? EXTENSIBLE_TAG : tag, true);
  view.setUint16(22, claimedChannels, true);
  view.setUint32(24, claimedHz, true);
  view.setUint32(28, (claimedHz * blockBytes) % 2 ** 32, true);
  view.setUint16(32, blockBytes, true);
  view.setUint16(34, bits, true);
  if (extensible) {
    view.setUint16(36, 22, true);
    view.setUint16(38, bits, true);
    view.setUint16(44, tag, true);
    file.set(GUID_TAIL, 46);
  }
  ascii('data', dataStart - 8);
  view.setUint32(dataStart - 4, claimedData, true);
  for (const [channel, plane] of planes.entries()) {
    const write = sampleWriter(view, plane, kind, bits);
    for (let i = 0; i < frames; i++) write(dataStart + (i * channels + channel) * sampleBytes, i);
  }
  return file;
}

/** Returns a function that writes sample `i` of a channel at an offset. */
function sampleWriter(
  view: DataView,
  plane: Float32Samples,
  kind: WavShape['kind'],
  bits: number,
): (at: number, i: number) => void {
  const value = (i: number) => plane[i] ?? 0;
  if (kind === 'float' && bits === 64) return (at, i) => view.setFloat64(at, value(i), true);
  if (kind === 'float') return (at, i) => view.setFloat32(at, value(i), true);
  if (kind === 'int') return (at, i) => writeInteger(view, at, value(i), bits);
  const codes = encodeAudio(plane, kind);
  return (at, i) => view.setUint8(at, codes[i] ?? 0);
}

/** 8-bit samples are unsigned, all others signed. */
function writeInteger(view: DataView, at: number, value: number, bits: number): void {
  const full = 2 ** (bits - 1);
  const integer = Math.max(-full, Math.min(full - 1, Math.round(value * full)));
  if (bits === 8) view.setUint8(at, integer + 128);
  else if (bits === 16) view.setInt16(at, integer, true);
  else if (bits === 32) view.setInt32(at, integer, true);
  else {
    view.setInt8(at + 2, integer >> 16);
    view.setUint16(at, integer & 0xffff, true);
  }
}
