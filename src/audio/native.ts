/** The one place that loads the C++ addon. Each of its functions has one face in TypeScript, which everything else calls. */

import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Float32Samples, Int16Samples } from '../contract/engines/audio.ts';

/** Must equal `kAbiVersion` in native/src/addon.cpp. */
const ABI_VERSION = 2;
const ADDON_PATH = join(import.meta.dirname, '../../native/build/Release/voice_native.node');

/** How coded audio lies in bytes: signed 16-bit little-endian, or one G.711 code per byte. */
export type Encoding = 'pcm16' | 'mulaw' | 'alaw';
export type SampleFormat = 'int16' | 'float32';

declare const kind: unique symbol;
/** An object of the addon; only the addon's own functions take it. */
export type ResamplerHandle = object & { readonly [kind]: 'resampler' };
export type ChunkerHandle = object & { readonly [kind]: 'chunker' };

/** Exports of the addon, as native/src/addon.cpp defines them. All throw TypeError or RangeError. */
export interface NativeAddon {
  readonly abiVersion: number;
  /** Most elements of an array, or UTF-16 units of a text, that one call takes. */
  readonly maxElements: number;
  encode(encoding: Encoding, samples: Int16Samples | Float32Samples): Uint8Array<ArrayBuffer>;
  decode(encoding: Encoding, bytes: Uint8Array, format: SampleFormat): Int16Samples | Float32Samples;
  float32ToInt16(samples: Float32Samples): Int16Samples;
  int16ToFloat32(samples: Int16Samples): Float32Samples;
  createResampler(fromHz: number, toHz: number, format: SampleFormat, portable: boolean): ResamplerHandle;
  resamplerPush(
    handle: ResamplerHandle,
    samples: Int16Samples | Float32Samples,
  ): Int16Samples | Float32Samples;
  resamplerFlush(handle: ResamplerHandle): Int16Samples | Float32Samples;
  resamplerReset(handle: ResamplerHandle): void;
  resamplerLatency(handle: ResamplerHandle): number;
  resamplerKernel(handle: ResamplerHandle): string;
  resamplerClose(handle: ResamplerHandle): void;
  createChunker(): ChunkerHandle;
  chunkerPush(handle: ChunkerHandle, text: string): string[];
  chunkerFlush(handle: ChunkerHandle): string[];
  chunkerReset(handle: ChunkerHandle): void;
  chunkerClose(handle: ChunkerHandle): void;
  /** Pictures in I420, displacements in pixels at the nodes of a grid (native/src/warp.h). */
  warpPicture(
    from: Uint8Array,
    width: number,
    height: number,
    columns: number,
    rows: number,
    origin: number,
    step: number,
    x: Float32Array,
    y: Float32Array,
    into: Uint8Array,
  ): void;
}

/**
 * Loads the addon from a file.
 * @throws Error that says what to run, when the file is missing, was built for another machine, or belongs
 *   to another version of the sources.
 */
export function loadAddon(path: string): NativeAddon {
  let addon: NativeAddon;
  try {
    addon = createRequire(import.meta.url)(path) as NativeAddon;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`The native addon could not be loaded (${reason}). Run: bun run build:native`, { cause });
  }
  if (addon.abiVersion !== ABI_VERSION) {
    throw new Error(
      `The native addon has version ${addon.abiVersion}, the sources need ${ABI_VERSION}. Run: bun run build:native`,
    );
  }
  return addon;
}

/** The addon of this thread. */
export const native: NativeAddon = loadAddon(ADDON_PATH);
