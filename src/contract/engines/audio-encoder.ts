/** Encoding of synthesized speech to audio files that are streamed while they grow. */

/** Compressed formats, by their names at OpenAI: MP3, Ogg Opus, AAC in ADTS, FLAC. */
export const ENCODED_FORMATS = ['mp3', 'opus', 'aac', 'flac'] as const;
export type EncodedFormat = (typeof ENCODED_FORMATS)[number];

export interface AudioEncoder {
  /**
   * Opens an encoding. Call it before the first samples exist, because it starts the process of the encoders if there is none.
   * @param keyId id of the API key of the request. The memory of the encoders is limited per key and in total.
   * @throws ServiceError `overloaded` if the open encodings use that memory, or after {@link close}.
   */
  open(format: EncodedFormat, keyId: string): AudioEncoding;
  /** Stops the process; open encodings fail. Idempotent. */
  close(): Promise<void>;
}

/** One file. Calls must be sequential. Its owner calls {@link close}. */
export interface AudioEncoding {
  /**
   * Adds samples: signed 16-bit little-endian, mono, {@link SPEECH_RATE_HZ}, any number of whole samples. Resolves with the bytes of the
   * file that are complete, possibly none.
   * @throws ServiceError `internal` (`worker_crashed`) if the process of the encoders failed; `overloaded` after
   *   {@link AudioEncoder.close}.
   */
  encode(pcm: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>>;
  /** Ends the file. Resolves with its last bytes. Throws as {@link encode}. */
  finish(): Promise<Uint8Array<ArrayBuffer>>;
  /** Releases the encoder. Idempotent. May be passed without its object. */
  readonly close: () => void;
}
