/** Decoding of audio files from untrusted sources. */

import type { Float32Samples } from './audio.ts';

/** Properties of a decoded file. */
export interface AudioFileInfo {
  /** `wav`, `mp3`, `mp4`, `flac`, `ogg`, `webm`, … */
  readonly container: string;
  readonly codec: string;
  readonly rateHz: number;
  readonly channels: number;
}

/** Formats that a feature accepts. */
export interface AllowedFormats {
  /** Container names as in {@link AudioFileInfo.container}. */
  readonly containers: ReadonlySet<string>;
  /** Text for messages, e.g. `WAV and MP3`. */
  readonly label: string;
}

export interface OpenAudioFile {
  readonly info: AudioFileInfo;
  /** Sample rate of `samples`, in Hz. */
  readonly rateHz: number;
  /**
   * Length in seconds according to the headers or the size of the file, which can be wrong; the maximum allowed length if they do not
   * state it.
   */
  readonly declaredS: number;
  /**
   * Decoded audio, mixed down to mono, at the requested rate. Decoded as it is consumed, so memory use does
   * not depend on the length. `return()` stops the decoder.
   * @throws ServiceError `invalid_request` if the file is truncated or longer than allowed.
   */
  readonly samples: AsyncGenerator<Float32Samples, void, undefined>;
}

export interface AudioFileReader {
  /** Maximum number of files open concurrently; further files are rejected. */
  readonly maxOpen: number;
  /**
   * Opens a local file. The content determines the format, not the name.
   * @param rateHz sample rate, {@link MIN_RATE_HZ} to {@link MAX_RATE_HZ}; `own` keeps the rate of the file,
   *   or the nearest in this range.
   * @param field request field that an error names.
   * @param formats absent accepts all supported formats.
   * @throws ServiceError `invalid_request` if the file is not decodable audio, has a format that is not
   *   allowed, is empty, is longer than allowed according to its headers, or exceeds the time or memory limit
   *   of the decoder; `overloaded` if too many files are open; the signal's reason after an abort.
   */
  openFile(
    path: string,
    rateHz: number | 'own',
    field: string,
    signal: AbortSignal,
    formats?: AllowedFormats,
  ): Promise<OpenAudioFile>;
  /** Stops all decoders. Idempotent. */
  close(): Promise<void>;
}
