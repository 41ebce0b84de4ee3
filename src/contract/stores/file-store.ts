/**
 * Uploaded and generated files per organization (spec 2.1, openai-wire 2). Their content is stored in the
 * {@link BlobStore}.
 */

import type { Id } from '../core/id.ts';

/** Maximum size of a batch input file (spec 8: 200 MB). */
export const MAX_INPUT_FILE_BYTES = 200 * 1024 * 1024;

export type FilePurpose = 'batch' | 'batch_output';

export interface FileRecord {
  readonly id: Id<'file-'>;
  readonly organization: string;
  readonly purpose: FilePurpose;
  readonly filename: string;
  readonly lengthBytes: number;
  /** SHA-256 of the content, in hex. */
  readonly sha256: string;
  /** Unix seconds. */
  readonly createdAt: number;
  /** Unix seconds from which the file is treated as deleted; undefined means never. */
  readonly expiresAt?: number | undefined;
}

/** Returns the blob name of a file. */
export function fileBlob(id: Id<'file-'>): string {
  return `files/${id}`;
}

/**
 * Idempotency key of a request: repeated requests with the same key and content return the resource that the
 * first one created.
 */
export interface IdempotencyKey {
  /** Value sent by the client, 1–255 characters. */
  readonly key: string;
  /** Identifies the content of the request, e.g. a hash of all that was sent. */
  readonly fingerprint: string;
}

/** Idempotency keys are deleted after one day. */
export const IDEMPOTENCY_KEY_S = 86_400;

export interface FilePage {
  readonly files: readonly FileRecord[];
  readonly hasMore: boolean;
}

/** Resources of other organizations are treated as missing. */
export interface FileStore {
  /**
   * Stores a file whose content is stored.
   * @param maxBytes maximum total size of the organization's files, including results, and expired files
   *   until they are removed.
   * @returns the file of an earlier request with the same idempotency key, otherwise `file`.
   * @throws ServiceError `conflict` (code `idempotency_conflict`) if the key was used with another
   *   fingerprint; `invalid_request` (code `storage_limit_exceeded`) if the file exceeds the quota.
   */
  put(file: FileRecord, maxBytes: number, idempotency?: IdempotencyKey): Promise<FileRecord>;
  /**
   * Checks the quota.
   * @throws ServiceError `invalid_request` (code `storage_limit_exceeded`) if `put` would reject a file of
   *   one byte.
   */
  requireCapacity(organization: string, maxBytes: number): Promise<void>;
  /**
   * Returns a file.
   * @param at current time in Unix seconds; expired files are treated as missing.
   */
  get(organization: string, id: string, at: number): Promise<FileRecord | undefined>;
  /**
   * Lists files.
   * @param query.after id of the last file of the previous page.
   * @throws ServiceError `invalid_request` (param `after`) if the organization has no such file.
   */
  list(query: {
    organization: string;
    purpose?: FilePurpose | undefined;
    limit: number;
    order: 'asc' | 'desc';
    after?: string | undefined;
    /** Current time in Unix seconds. */
    at: number;
  }): Promise<FilePage>;
  /**
   * Deletes a file, but not its content.
   * @returns false if it does not exist or has expired.
   * @throws ServiceError `conflict` (code `file_in_use`) while an unfinished batch reads it.
   */
  delete(organization: string, id: string, at: number): Promise<boolean>;
  /** Lists files of all organizations that expired before `at` and that no batch reads, oldest first. */
  listExpired(at: number, limit: number): Promise<readonly FileRecord[]>;
  /** Returns the ids that are stored files. */
  filterExisting(ids: readonly Id<'file-'>[]): Promise<ReadonlySet<Id<'file-'>>>;
  /**
   * Deletes idempotency keys, including those of batches and videos.
   * @param before Unix seconds: keys created earlier are deleted.
   * @returns the number of deleted keys.
   */
  deleteIdempotencyKeys(before: number): Promise<number>;
}
