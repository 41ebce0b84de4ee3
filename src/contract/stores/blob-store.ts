/** Bytes that outlive a request, by name: on disk, or in S3 when machines share them. */

export interface BlobFacts {
  readonly lengthBytes: number;
  /** Of all bytes, in hex. */
  readonly sha256: string;
}

/** Bytes from `start` to before `end`, counted from 0. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** A blob that is open for reading, from its beginning, as a file of this machine. Who has it closes it. */
export interface BlobFile {
  /** May be given to a process, which then can read this and nothing else of the store. */
  readonly fd: number;
  close(): Promise<void>;
}

/**
 * Names are 1–200 of `a-z A-Z 0-9 . _ - /`, relative, without `.` and `..` as parts, and none is the folder of
 * another. Any other is refused with a RangeError.
 */
export interface BlobStore {
  /**
   * Stores a blob in the memory of a few parts, whatever its length. Nobody can read it before all of it is durable;
   * then it replaces one of the same name at once. After an abort or a failure nothing of it is left, unless the
   * last step failed and nobody knows how far it came: then all of it may be there.
   * @throws ServiceError `overloaded` when the store has no room or cannot be reached; what `bytes` throws; the
   *   signal's reason after an abort.
   */
  write(name: string, bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<BlobFacts>;
  /**
   * Bytes in order, read as they are consumed. Not consuming frees what it holds.
   * @param range inside of the blob; absent is all of it.
   * @returns undefined when there is no such blob.
   * @throws ServiceError `overloaded` when the store cannot be reached, also half-way.
   */
  read(
    name: string,
    signal: AbortSignal,
    range?: ByteRange,
  ): Promise<AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> | undefined>;
  /**
   * Opens a blob for a process of its own, which then need not be sent all bytes; undefined in a store whose blobs are
   * no files of this machine. A blob that is deleted meanwhile can be read to its end.
   * @returns undefined when there is no such blob.
   */
  readonly openFile: ((name: string) => Promise<BlobFile | undefined>) | undefined;
  /** False when there is none. */
  delete(name: string): Promise<boolean>;
  /** Deletes every blob whose name begins so; how many. */
  deleteAll(prefix: string, signal: AbortSignal): Promise<number>;
  /** Names that begin so, with the time of their last write in Unix seconds, in no order. */
  list(
    prefix: string,
    signal: AbortSignal,
  ): AsyncGenerator<{ name: string; changedAt: number }, void, undefined>;
  /**
   * Removes what writers that died left unfinished, which nobody can read; how many. What is too young to tell stays
   * until a later call.
   */
  removeUnfinished(signal: AbortSignal): Promise<number>;
  /** Idempotent. */
  close(): Promise<void>;
}
