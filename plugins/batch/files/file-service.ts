/** Files of organizations: their bytes are blobs, their records are in SQL. */

import type { Caller } from '../../../src/contract/accounts/caller.ts';
import type { Clock } from '../../../src/contract/core/clock.ts';
import { type ErrorKind, invalidRequest, ServiceError } from '../../../src/contract/core/error.ts';
import { type Id, newId } from '../../../src/contract/core/id.ts';
import type { Logger } from '../../../src/contract/core/logger.ts';
import type { BlobStore, ByteRange } from '../../../src/contract/stores/blob-store.ts';
import { type FileRecord, type FileStore, fileBlob } from '../../../src/contract/stores/file-store.ts';
import { shortened } from '../../../src/http/request/form-fields.ts';
import type { ArrivingFile } from '../../../src/http/request/multipart.ts';
import { unixSeconds } from '../../../src/kit/clock.ts';
import { type OpenRequest, OpenRequests } from '../../../src/kit/limits/open-requests.ts';
import type { UploadAsk } from './schema.ts';
import { StoredFile } from './stored-file.ts';

/** Of a name that the client sent: what a list should show and a database can keep. */
const FILENAME_CHARACTERS = 255;

/** Errors of the store after which nothing was noted. */
const REFUSALS: ReadonlySet<ErrorKind> = new Set(['conflict', 'invalid_request']);

export interface FileParts {
  readonly files: FileStore;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly log: Logger;
  /** Uploads of one organization that may be open at once. */
  readonly uploadsPerOrganization: number;
  /** Bytes that files of one organization may have together. */
  readonly storedBytesPerOrganization: number;
}

export class Files {
  readonly #parts: FileParts;
  readonly #uploads: OpenRequests;

  constructor(parts: FileParts) {
    this.#parts = parts;
    this.#uploads = new OpenRequests('upload', parts.uploadsPerOrganization);
  }

  /**
   * Begins an upload; the caller ends it.
   * @throws ServiceError `rate_limited` when the organization or the key has too many open.
   */
  upload(caller: Caller, signal: AbortSignal): Upload {
    return new Upload(this.#parts, caller.organization, this.#uploads.begin(caller, signal));
  }

  /** @throws ServiceError `not_found`. */
  async get({ organization }: Caller, id: string): Promise<FileRecord> {
    const { files, clock } = this.#parts;
    const file = await files.get(organization, id, unixSeconds(clock));
    if (file === undefined) throw unknownFile(id);
    return file;
  }

  list({ organization }: Caller, query: Omit<Parameters<FileStore['list']>[0], 'organization' | 'at'>) {
    const { files, clock } = this.#parts;
    return files.list({ organization, at: unixSeconds(clock), ...query });
  }

  /** @throws ServiceError `not_found` when the file was deleted meanwhile, `overloaded` when bytes cannot be had now,
   *   `internal` when they are lost. */
  async read(file: FileRecord, signal: AbortSignal, range?: ByteRange) {
    const { files, blobs, clock } = this.#parts;
    const bytes = await blobs.read(fileBlob(file.id), signal, range);
    if (bytes !== undefined) return bytes;
    const isThere = await files.get(file.organization, file.id, unixSeconds(clock));
    if (isThere === undefined) throw unknownFile(file.id);
    throw new ServiceError('internal', 'The content of this file is lost.', { code: 'server_error' });
  }

  /** @throws ServiceError `not_found`; `conflict` while a batch that has not ended reads the file. */
  async delete({ organization }: Caller, id: string): Promise<void> {
    const { files, blobs, clock, log } = this.#parts;
    if (!(await files.delete(organization, id, unixSeconds(clock)))) throw unknownFile(id);
    await deleteBlob(blobs, id as Id<'file'>, log);
  }

  /** Lets uploads finish, until the signal fires. */
  drain(until: AbortSignal): Promise<void> {
    return this.#uploads.drain(until);
  }

  /** Ends every upload. */
  stop(): void {
    this.#uploads.stop();
  }
}

/** One upload: its bytes are stored while they arrive, and become a file at its end or are removed. */
export class Upload {
  readonly #parts: FileParts;
  readonly #organization: string;
  readonly #open: OpenRequest;
  /** Of a blob that is there and that no record knows for sure. */
  #unknown: Id<'file'> | undefined;
  #taken = false;

  constructor(parts: FileParts, organization: string, open: OpenRequest) {
    this.#parts = parts;
    this.#organization = organization;
    this.#open = open;
  }

  /** Fires when the caller leaves and when the service stops. */
  get signal(): AbortSignal {
    return this.#open.signal;
  }

  /**
   * Refuses early what would be refused at its end.
   * @throws ServiceError `invalid_request` (code `storage_limit_exceeded`) when the organization may store nothing more.
   */
  requireRoom(): Promise<void> {
    const { files, storedBytesPerOrganization } = this.#parts;
    return files.requireRoom(this.#organization, storedBytesPerOrganization);
  }

  /**
   * Stores the file of the form.
   * @throws ServiceError `invalid_request` for a second one and for a file in the place of another field,
   *   `overloaded` when there is no room.
   */
  async take({ name, filename, bytes }: ArrivingFile, signal: AbortSignal): Promise<StoredFile> {
    if (name !== 'file') {
      const shown = shortened(name);
      throw invalidRequest(
        `'${shown}' must not be a file: the file of this form is 'file'.`,
        shown,
        'invalid_type',
      );
    }
    if (this.#taken) throw invalidRequest("'file' must be given once.", 'file', 'invalid_value');
    this.#taken = true;
    const id = newId('file');
    const facts = await this.#parts.blobs.write(fileBlob(id), bytes, signal);
    this.#unknown = id;
    return new StoredFile(id, keptName(filename), facts);
  }

  /**
   * Makes what was taken a file.
   * @param key of a request that may be sent twice.
   * @returns the file that an earlier request with the same key and content made, else the new one.
   * @throws ServiceError `conflict` when the key came with another content; `invalid_request` (code
   *   `storage_limit_exceeded`) when the organization may not store so much.
   */
  async finish({ file, purpose, expiresAfterS }: UploadAsk, key: string | undefined): Promise<FileRecord> {
    const { files, clock, storedBytesPerOrganization: maxBytes } = this.#parts;
    const { id, filename, facts } = file;
    const createdAt = unixSeconds(clock);
    const expiresAt = expiresAfterS === undefined ? undefined : createdAt + expiresAfterS;
    const record = {
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
    // Whether a step that failed was stored is not always known: then the bytes stay, and the sweep decides.
    this.#unknown = undefined;
    try {
      const stored = await files.put(record, maxBytes, key === undefined ? undefined : { key, fingerprint });
      if (stored.id !== id) this.#unknown = id;
      return stored;
    } catch (error) {
      if (error instanceof ServiceError && REFUSALS.has(error.kind)) this.#unknown = id;
      throw error;
    }
  }

  /** Removes bytes that became no file, and frees the upload's place. Never rejects. */
  async end(): Promise<void> {
    this.#open.end();
    if (this.#unknown !== undefined) await deleteBlob(this.#parts.blobs, this.#unknown, this.#parts.log);
  }
}

/** Deletes a file's bytes, now or by the sweep. */
async function deleteBlob(blobs: BlobStore, id: Id<'file'>, log: Logger): Promise<void> {
  try {
    await blobs.delete(fileBlob(id));
  } catch (error) {
    log.error('the bytes of a deleted file are left to the sweep', error, { file: id });
  }
}

/** A client's name of a file without what no name should have. */
function keptName(filename: string | undefined): string {
  const plain = filename?.toWellFormed().replace(/\p{Cc}/gu, '_') ?? '';
  return [...plain].slice(0, FILENAME_CHARACTERS).join('') || 'upload';
}

function unknownFile(id: string): ServiceError {
  return new ServiceError('not_found', `No such File object: ${id.slice(0, 100)}`, { param: 'id' });
}
