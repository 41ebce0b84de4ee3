/**
 * Loads the C++ addon. This is the only module that does; the other modules of this folder wrap its
 * functions.
 */

import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Float32Samples, Int16Samples } from '../contract/engines/audio.ts';

/** Must equal `kAbiVersion` in native/src/addon.cpp. */
const ABI_VERSION = 2;
const ADDON_PATH = join(import.meta.dirname, '../../native/build/Release/voice_native.node');

/** Byte encoding of audio: signed 16-bit little-endian, or one G.711 code per byte. */
export type Encoding = 'pcm16' | 'mulaw' | 'alaw';
export type SampleFormat = 'int16' | 'float32';

declare const kind: unique symbol;
/** An opaque object of the addon that only its own functions accept. */
export type ResamplerHandle = object & { readonly [kind]: 'resampler' };
export type ChunkerHandle = object & { readonly [kind]: 'chunker' };

/**
 * Exports of the addon as defined in native/src/addon.cpp. All functions throw TypeError or RangeError for
 * invalid arguments.
 */
export interface NativeAddon {
  readonly abiVersion: number;
  /** Maximum number of array elements, or UTF-16 units of a text, per call. */
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
  /**
   * Warps an I420 picture. `x` and `y` contain the displacements in pixels at the nodes of a grid
   * (native/src/warp.h).
   */
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
 * @throws Error with the build command if the file is missing, was built for another platform, or has another
 *   ABI version.
 */
export function loadAddon(path: string): NativeAddon {
  let addon: NativeAddon;
  try {
    addon = createRequire(import.meta.url)(path) as NativeAddon;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`Failed to load the native addon (${reason}). Run: bun run build:native`, { cause });
  }
  if (addon.abiVersion !== ABI_VERSION) {
    throw new Error(
      `The native addon has version ${addon.abiVersion}, the sources need ${ABI_VERSION}. Run: bun run build:native`,
    );
  }
  return addon;
}

/** The addon instance of this thread. */
export const native: NativeAddon = loadAddon(ADDON_PATH);
