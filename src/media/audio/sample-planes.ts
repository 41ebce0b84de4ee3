import type { Float32Samples } from '../../contract/engines/audio.ts';

/** Reads sample `i` of little-endian data as a float with full scale ±1. */
type ReadSample = (view: DataView, at: number) => number;

/** Sample formats of FFmpeg's decoders without the suffix `p` of planar ones. */
const FORMATS: Readonly<Record<string, { readonly bytes: number; readonly read: ReadSample }>> = {
  u8: { bytes: 1, read: (view, at) => (view.getUint8(at) - 2 ** 7) / 2 ** 7 },
  s16: { bytes: 2, read: (view, at) => view.getInt16(at, true) / 2 ** 15 },
  s32: { bytes: 4, read: (view, at) => view.getInt32(at, true) / 2 ** 31 },
  s64: { bytes: 8, read: (view, at) => Number(view.getBigInt64(at, true)) / 2 ** 63 },
  flt: { bytes: 4, read: (view, at) => view.getFloat32(at, true) },
  dbl: { bytes: 8, read: (view, at) => view.getFloat64(at, true) },
};

/**
 * Converts decoded audio to one float plane per channel.
 * @param format FFmpeg's name of the sample format, for example `s16` (interleaved) or `fltp` (planar).
 * @param data one buffer per channel if planar, otherwise one buffer.
 * @throws RangeError for an unknown format or missing data.
 */
export function samplePlanes(
  data: readonly Uint8Array[],
  format: string,
  channels: number,
  samples: number,
): Float32Samples[] {
  const isPlanar = format.endsWith('p');
  const known = FORMATS[isPlanar ? format.slice(0, -1) : format];
  if (known === undefined) throw new RangeError(`unknown sample format '${format}'`);
  const { bytes, read } = known;
  const stride = isPlanar ? bytes : bytes * channels;
  return Array.from({ length: channels }, (_, channel) => {
    const plane = data[isPlanar ? channel : 0];
    if (plane === undefined) throw new RangeError(`no data for channel ${channel}`);
    const view = new DataView(plane.buffer, plane.byteOffset, plane.byteLength);
    const first = isPlanar ? 0 : channel * bytes;
    return Float32Array.from({ length: samples }, (__, i) => read(view, first + i * stride));
  });
}
