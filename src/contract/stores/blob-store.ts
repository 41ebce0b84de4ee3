/** Blob storage: on disk, or in S3 if several machines share it. */

export interface BlobFacts {
  readonly lengthBytes: number;
  /** SHA-256 of the content, in hex. */
  readonly sha256: string;
}

/** Byte range from `start` (inclusive) to `end` (exclusive), counted from 0. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** A blob open for reading as a local file, positioned at its start. The caller closes it. */
export interface BlobFile {
  /** File descriptor. A child process that inherits it can read this blob and nothing else of the store. */
  readonly fd: number;
  close(): Promise<void>;
}

/**
 * Blob names are relative paths of 1–200 characters of `a-z A-Z 0-9 . _ - /`, without `.` and `..` segments;
 * no name may be a folder of another. Other names throw a RangeError.
 */
export interface BlobStore {
  /**
   * Stores a blob. Memory use does not depend on its length. The blob becomes readable, and replaces one of
   * the same name, in one step after all of it is durable. After an abort or an error nothing of it remains,
   * except after an error in the last step, whose result can be unknown.
   * @throws ServiceError `overloaded` if the store is full or unavailable; errors of `bytes`; the signal's
   *   reason after an abort.
   */
  write(name: string, bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<BlobFacts>;
  /**
   * Reads a blob in order, as it is consumed. Ending the iteration releases the resources.
   * @param range inside the blob; absent reads all of it.
   * @returns undefined if the blob does not exist.
   * @throws ServiceError `overloaded` if the store is unavailable, also during the iteration.
   */
  read(
    name: string,
    signal: AbortSignal,
    range?: ByteRange,
  ): Promise<AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> | undefined>;
  /**
   * Opens a blob as a file for a child process, which avoids sending it all bytes. Undefined if the store has
   * no local files. A blob that is deleted after the call can still be read to its end.
   * @returns undefined if the blob does not exist.
   */
  readonly openFile: ((name: string) => Promise<BlobFile | undefined>) | undefined;
  /**
   * Deletes a blob.
   * @returns false if it does not exist.
   */
  delete(name: string): Promise<boolean>;
  /**
   * Deletes all blobs with a prefix.
   * @returns the number of deleted blobs.
   */
  deleteAll(prefix: string, signal: AbortSignal): Promise<number>;
  /** Lists blobs with a prefix, unordered, with the time of their last write in Unix seconds. */
  list(
    prefix: string,
    signal: AbortSignal,
  ): AsyncGenerator<{ name: string; changedAt: number }, void, undefined>;
  /**
   * Removes incomplete uploads of crashed writers, which cannot be read. Recent ones, which may still be in
   * progress, are kept for a later call.
   * @returns the number of removed uploads.
   */
  removeUnfinished(signal: AbortSignal): Promise<number>;
  /** Idempotent. */
  close(): Promise<void>;
}
