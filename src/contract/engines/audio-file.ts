/** Reading audio of any common format, whoever made it. */

import type { Float32Samples } from './audio.ts';

/** What a file turned out to be. */
export interface AudioFileInfo {
  /** `wav`, `mp3`, `mp4`, `flac`, `ogg`, `webm`, … */
  readonly container: string;
  readonly codec: string;
  readonly rateHz: number;
  readonly channels: number;
}

/** Files that a feature takes, of all that can be read. */
export interface AllowedFormats {
  /** As {@link AudioFileInfo.container} names them. */
  readonly containers: ReadonlySet<string>;
  /** For messages: `WAV and MP3`. */
  readonly label: string;
}

export interface OpenAudioFile {
  readonly info: AudioFileInfo;
  /** Of the samples. */
  readonly rateHz: number;
  /** Length by the file's own headers, which may be wrong; the longest that is allowed when they say nothing. */
  readonly declaredS: number;
  /**
   * The audio, all channels mixed to one, at the rate asked for; decoded as it is pulled, so memory does not
   * depend on its length. `return()` ends the decoder.
   * @throws ServiceError `invalid_request` when the file breaks off, or holds more than the longest allowed.
   */
  readonly samples: AsyncGenerator<Float32Samples, void, undefined>;
}

export interface AudioFileReader {
  /** Files that may be open at once; one more is refused. */
  readonly maxOpen: number;
  /**
   * Opens a file on disk; its content decides what it is, not its name.
   * @param rateHz rate of the samples, {@link MIN_RATE_HZ} to {@link MAX_RATE_HZ}; `own` is the file's, or the nearest of
   *   these.
   * @param field the request's field that an error names.
   * @param formats absent: all that can be read.
   * @throws ServiceError `invalid_request` when it is no audio that can be decoded, is of another format, is empty, declares to be
   *   longer than allowed, or takes the decoder too long or too much memory; `overloaded` when too many files are open; the signal's reason
   *   after an abort.
   */
  openFile(
    path: string,
    rateHz: number | 'own',
    field: string,
    signal: AbortSignal,
    formats?: AllowedFormats,
  ): Promise<OpenAudioFile>;
  /** Ends every decoder. Idempotent. */
  close(): Promise<void>;
}
