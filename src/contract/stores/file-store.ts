/** Uploaded and made files, per organization (spec 2.1, openai-wire 2). Their bytes lie in the {@link BlobStore}. */

import type { Id } from '../core/id.ts';

/** Largest input of a batch, in bytes (spec 8: 200 MB). */
export const MAX_INPUT_FILE_BYTES = 200 * 1024 * 1024;

export type FilePurpose = 'batch' | 'batch_output';

export interface FileRecord {
  readonly id: Id<'file'>;
  readonly organization: string;
  readonly purpose: FilePurpose;
  readonly filename: string;
  readonly lengthBytes: number;
  /** Of its bytes, in hex. */
  readonly sha256: string;
  /** Unix seconds. */
  readonly createdAt: number;
  /** Unix seconds after which it is as if deleted; undefined is never. */
  readonly expiresAt?: number | undefined;
}

/** The blob of a file. */
export function fileBlob(id: Id<'file'>): string {
  return `files/${id}`;
}

/**
 * Makes a request that is sent twice happen once: the first with a key makes something, those after it with the
 * same content get that.
 */
export interface IdempotencyKey {
  /** As the client sent it, 1–255 characters. */
  readonly key: string;
  /** Says whether two requests are the same, e.g. a hash of all that was sent. */
  readonly fingerprint: string;
}

/** Keys are forgotten after a day. */
export const IDEMPOTENCY_KEY_S = 86_400;

export interface FilePage {
  readonly files: readonly FileRecord[];
  readonly hasMore: boolean;
}

/** What belongs to another organization is answered as if it did not exist. */
export interface FileStore {
  /**
   * Notes a file whose bytes are stored.
   * @param maxBytes that all files of the organization may have together; those of results count, and so do expired
   *   ones until they are removed.
   * @returns the file that an earlier request with the same key made, else `file` itself.
   * @throws ServiceError `conflict` (code `idempotency_conflict`) when the key came with another fingerprint;
   *   `invalid_request` (code `storage_limit_exceeded`) when there is no room for the file.
   */
  put(file: FileRecord, maxBytes: number, idempotency?: IdempotencyKey): Promise<FileRecord>;
  /** @throws ServiceError `invalid_request` (code `storage_limit_exceeded`) when `put` would refuse a file of one byte. */
  requireCapacity(organization: string, maxBytes: number): Promise<void>;
  /** @param at Unix seconds, now: what has expired is not there. */
  get(organization: string, id: string, at: number): Promise<FileRecord | undefined>;
  /**
   * @param query.after id of the last file of the previous page.
   * @throws ServiceError `invalid_request` (param `after`) when no such file belongs to the organization.
   */
  list(query: {
    organization: string;
    purpose?: FilePurpose | undefined;
    limit: number;
    order: 'asc' | 'desc';
    after?: string | undefined;
    /** Unix seconds, now. */
    at: number;
  }): Promise<FilePage>;
  /**
   * Forgets a file, not its bytes. False when there is none; one that has expired is forgotten and counts as none.
   * @throws ServiceError `conflict` (code `file_in_use`) while a batch that has not ended reads it.
   */
  delete(organization: string, id: string, at: number): Promise<boolean>;
  /** Files of every organization that expired before a time and that no batch reads; oldest first. */
  listExpired(at: number, limit: number): Promise<readonly FileRecord[]>;
  /** Which of these ids are files. */
  filterExisting(ids: readonly Id<'file'>[]): Promise<ReadonlySet<Id<'file'>>>;
  /**
   * Forgets idempotency keys, those of batches too.
   * @param before Unix seconds: those that were noted earlier.
   * @returns how many.
   */
  deleteIdempotencyKeys(before: number): Promise<number>;
}
