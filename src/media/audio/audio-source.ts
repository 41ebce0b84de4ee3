/** What decoding needs from a file, regardless of the library that parses its container. */

import type { Float32Samples } from '../../contract/engines/audio.ts';
import type { AudioFileInfo } from '../../contract/engines/audio-file.ts';
import { UnusableMediaError } from '../process/protocol.ts';
import { ALLOWED_RATES, isConvertible } from './any-rate-resampler.ts';

/** More than any common microphone array; limits the memory of a packet. */
const MAX_CHANNELS = 64;

/** A run of decoded audio. */
export interface AudioRun {
  readonly rateHz: number;
  /** One plane per channel, all of one length. */
  readonly channels: readonly Float32Samples[];
}

/** The main audio track of an open file. */
export interface AudioSource {
  /** As the headers declare them. Rate and channels may change while decoding. */
  readonly info: AudioFileInfo;
  /** Duration in seconds according to the headers; undefined if unknown. */
  readonly declaredS: number | undefined;
  /** Estimate in seconds from the size of the file, where the headers have no duration. */
  readonly estimatedS?: number | undefined;
  /**
   * Decodes the track from its start. Call once.
   * @throws UnusableMediaError `broken`.
   */
  runs(): AsyncGenerator<AudioRun, void, undefined>;
  /** Frees the parser. Does not close the file. */
  close(): Promise<void>;
}

/** @throws UnusableMediaError `rate`, `too-many-channels`. */
export function checkShape({
  rateHz,
  channels,
}: {
  readonly rateHz: number;
  readonly channels: number;
}): void {
  if (!isConvertible(rateHz)) throw new UnusableMediaError({ kind: 'rate', rateHz, allowed: ALLOWED_RATES });
  if (channels > MAX_CHANNELS) {
    throw new UnusableMediaError({ kind: 'too-many-channels', channels, max: MAX_CHANNELS });
  }
}
