/** Files of organizations. The bytes are stored as blobs, the records in SQL. */

import type { Caller } from '../../../src/contract/accounts/caller.ts';
import type { Clock } from '../../../src/contract/core/clock.ts';
import { type ErrorKind, invalidRequest, ServiceError } from '../../../src/contract/core/error.ts';
import { type Id, newId } from '../../../src/contract/core/id.ts';
import type { Logger } from '../../../src/contract/core/logger.ts';
import type { BlobStore, ByteRange } from '../../../src/contract/stores/blob-store.ts';
import { type FileRecord, type FileStore, fileBlob } from '../../../src/contract/stores/file-store.ts';
import { shortened } from '../../../src/http/request/form-fields.ts';
import type { IncomingFile } from '../../../src/http/request/multipart.ts';
import { unixSeconds } from '../../../src/kit/clock.ts';
import { type OpenRequest, OpenRequests } from '../../../src/kit/limits/open-requests.ts';
import type { UploadParams } from './schema.ts';
import { StoredFile } from './stored-file.ts';

/** Maximum length of a file name, in characters. Longer names are truncated. */
const FILENAME_CHARACTERS = 255;

/** Error kinds of the store that guarantee that no record was stored. */
const ROLLED_BACK: ReadonlySet<ErrorKind> = new Set(['conflict', 'invalid_request']);

export interface FileServiceDeps {
  readonly files: FileStore;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly log: Logger;
  /** Maximum number of concurrent uploads per organization. */
  readonly uploadsPerOrganization: number;
  /** Storage quota per organization, in bytes. */
  readonly storedBytesPerOrganization: number;
}

export class FileService {
  /** Uploads in progress. */
  readonly uploads: OpenRequests;
  readonly #deps: FileServiceDeps;

  constructor(deps: FileServiceDeps) {
    this.#deps = deps;
    this.uploads = new OpenRequests('upload', deps.uploadsPerOrganization);
  }

  /**
   * Starts an upload. The caller must call {@link Upload.release}.
   * @throws ServiceError `rate_limited` if the organization or the key has too many open uploads.
   */
  upload(caller: Caller, signal: AbortSignal): Upload {
    return new Upload(this.#deps, caller.organization, this.uploads.startRequest(caller, signal));
  }

  /** @throws ServiceError `not_found`. */
  async get({ organization }: Caller, id: string): Promise<FileRecord> {
    const { files, clock } = this.#deps;
    const file = await files.get(organization, id, unixSeconds(clock));
    if (file === undefined) throw unknownFile(id);
    return file;
  }

  list({ organization }: Caller, query: Omit<Parameters<FileStore['list']>[0], 'organization' | 'at'>) {
    const { files, clock } = this.#deps;
    return files.list({ organization, at: unixSeconds(clock), ...query });
  }

  /**
   * Opens the content of a file.
   * @throws ServiceError `not_found` if the file was deleted in the meantime, `overloaded` if the blob store is
   *   unavailable, `internal` if the bytes are lost.
   */
  async read(file: FileRecord, signal: AbortSignal, range?: ByteRange) {
    const { files, blobs, clock } = this.#deps;
    const bytes = await blobs.read(fileBlob(file.id), signal, range);
    if (bytes !== undefined) return bytes;
    const record = await files.get(file.organization, file.id, unixSeconds(clock));
    if (record === undefined) throw unknownFile(file.id);
    throw new ServiceError('internal', 'The content of this file is lost.', { code: 'server_error' });
  }

  /** @throws ServiceError `not_found`; `conflict` while an unfinished batch reads the file. */
  async delete({ organization }: Caller, id: string): Promise<void> {
    const { files, blobs, clock, log } = this.#deps;
    if (!(await files.delete(organization, id, unixSeconds(clock)))) throw unknownFile(id);
    await deleteBlob(blobs, id as Id<'file-'>, log);
  }
}

/** One upload. Its bytes are stored while they arrive; at the end they become a file or are deleted. */
export class Upload {
  readonly #deps: FileServiceDeps;
  readonly #organization: string;
  readonly #open: OpenRequest;
  /** Id of a stored blob that certainly has no record and is deleted at the end. */
  #unrecorded: Id<'file-'> | undefined;
  #hasFile = false;

  constructor(deps: FileServiceDeps, organization: string, open: OpenRequest) {
    this.#deps = deps;
    this.#organization = organization;
    this.#open = open;
  }

  /** Fires when the client disconnects or the service stops. */
  get signal(): AbortSignal {
    return this.#open.signal;
  }

  /**
   * Checks the storage quota before the upload is read.
   * @throws ServiceError `invalid_request` (code `storage_limit_exceeded`) if the quota of the organization is used up.
   */
  requireStorageQuota(): Promise<void> {
    const { files, storedBytesPerOrganization } = this.#deps;
    return files.requireCapacity(this.#organization, storedBytesPerOrganization);
  }

  /**
   * Stores the bytes of the file field.
   * @throws ServiceError `invalid_request` for a second file or a file in another field, `overloaded` if the store is
   *   full.
   */
  async storeFile({ name, filename, bytes }: IncomingFile, signal: AbortSignal): Promise<StoredFile> {
    if (name !== 'file') {
      const shown = shortened(name);
      throw invalidRequest(
        `'${shown}' must not be a file; upload the file in the field 'file'.`,
        shown,
        'invalid_type',
      );
    }
    if (this.#hasFile) throw invalidRequest("'file' must be given exactly once.", 'file', 'invalid_value');
    this.#hasFile = true;
    const id = newId('file-');
    const facts = await this.#deps.blobs.write(fileBlob(id), bytes, signal);
    this.#unrecorded = id;
    return new StoredFile(id, storedName(filename), facts);
  }

  /**
   * Creates the record of the stored file.
   * @param key Idempotency key of the request.
   * @returns the file of the earlier request with the same key and content, if there is one; otherwise the new file.
   * @throws ServiceError `conflict` if the key was used for other content; `invalid_request` (code
   *   `storage_limit_exceeded`) if the file exceeds the storage quota of the organization.
   */
  async finish({ file, purpose, expiresAfterS }: UploadParams, key: string | undefined): Promise<FileRecord> {
    const { files, clock, storedBytesPerOrganization: maxBytes } = this.#deps;
    const { id, filename, facts } = file;
    const createdAt = unixSeconds(clock);
    const expiresAt = expiresAfterS === undefined ? undefined : createdAt + expiresAfterS;
    const newRecord = {
      id,
      organization: this.#organization,
      purpose,
      filename,
      ...facts,
      createdAt,
      expiresAt,
    };
    const content = JSON.stringify([purpose, filename, facts.sha256, expiresAfterS ?? null]);
    const fingerprint = new Bun.CryptoHasher('sha256').update(content).digest('hex');
    // After an unexpected error the record may exist: the blob is kept, and the cleanup deletes it if it has no record.
    this.#unrecorded = undefined;
    try {
      const stored = await files.put(
        newRecord,
        maxBytes,
        key === undefined ? undefined : { key, fingerprint },
      );
      if (stored.id !== id) this.#unrecorded = id;
      return stored;
    } catch (error) {
      if (error instanceof ServiceError && ROLLED_BACK.has(error.kind)) this.#unrecorded = id;
      throw error;
    }
  }

  /** Deletes the bytes if they did not become a file, and releases the upload slot. Never rejects. */
  async release(): Promise<void> {
    this.#open.end();
    if (this.#unrecorded !== undefined) await deleteBlob(this.#deps.blobs, this.#unrecorded, this.#deps.log);
  }
}

/** Deletes the bytes of a file. On failure, the cleanup deletes them later. */
async function deleteBlob(blobs: BlobStore, id: Id<'file-'>, log: Logger): Promise<void> {
  try {
    await blobs.delete(fileBlob(id));
  } catch (error) {
    log.error('failed to delete the bytes of a deleted file; the cleanup will retry', error, { file: id });
  }
}

/** The file name of the client without control characters and lone surrogates, truncated. */
function storedName(filename: string | undefined): string {
  const plain = filename?.toWellFormed().replace(/\p{Cc}/gu, '_') ?? '';
  return [...plain].slice(0, FILENAME_CHARACTERS).join('') || 'upload';
}

function unknownFile(id: string): ServiceError {
  return new ServiceError('not_found', `No such File object: ${id.slice(0, 100)}`, { param: 'id' });
}
