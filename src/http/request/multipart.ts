/** Multipart forms whose files are streamed while they arrive, so that memory use does not depend on their size. */

import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import type { Clock } from '../../contract/core/clock.ts';
import { invalidRequest, ServiceError } from '../../contract/core/error.ts';
import { untilAborted } from '../../kit/async/until-aborted.ts';
import { isAbandoned, workFolderPrefix } from '../../kit/process/work-folder.ts';
import { toDiskError } from '../../kit/storage/disk-errors.ts';
import { requestContextOf } from '../security/caller.ts';
import { assertNotEncoded, mediaTypeOf, notAForm, tooLarge } from './body.ts';
import { FormBuilder, type FormFields, MAX_FIELDS, shortened } from './form-fields.ts';
import { rateCheckedBody } from './upload-rate.ts';
import { UPLOAD_PIECE_BYTES, UploadTurns } from './upload-turns.ts';

/** The uploads of this process share its main thread. */
const UPLOAD_TURNS = new UploadTurns();
/** Allowance for the parts of a form other than its file: other fields, names, boundaries. */
const REST_BYTES = 1024 * 1024;
/** Size limit of a text field: the longest is a prompt of 32,000 characters with up to four bytes each. */
const FIELD_BYTES = 128 * 1024;
const MAX_FILES = 16;
/**
 * The parser processes a chunk completely even after the form is rejected. A chunk of the runtime can be the whole body, and
 * a million parts would block the main thread for seconds, so chunks are split to this size.
 */
const MAX_CHUNK_BYTES = 16 * 1024;
/** Name prefix of form folders. */
const KIND = 'form';
/**
 * Older folders are abandoned, even if the process that created them ran on another host: no request takes this long.
 */
const ABANDONED_MS = 6 * 3_600_000;

/** A file of a form, on disk until the form is released. */
export class StagedFile {
  readonly path: string;
  readonly lengthBytes: number;

  constructor(path: string, lengthBytes: number) {
    this.path = path;
    this.lengthBytes = lengthBytes;
  }
}

export interface ReceivedForm {
  readonly fields: FormFields<StagedFile>;
  /** Removes the files. Idempotent. */
  release(): Promise<void>;
}

export interface UploadSettings {
  /** An existing folder, see {@link prepareUploadFolder}. */
  readonly folder: string;
  /** Maximum file size in bytes. */
  readonly fileBytes: number;
  /** Fields that may be repeated, with or without brackets. */
  readonly lists?: ReadonlySet<string>;
  /** Creates the file of an upload; replaced in tests. */
  readonly create?: (path: string) => Writable;
}

/** A file of a form that is being received. */
export interface IncomingFile {
  /** Field name. */
  readonly name: string;
  /** File name from the client, without folders. */
  readonly filename: string | undefined;
  /** Fields that precede the file in the form. */
  readonly precedingFields: FormFields<object>;
  /** Content, with backpressure. Throws if the form is rejected or malformed. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

export interface FormSettings<Upload extends object> {
  /** Maximum file size in bytes. */
  readonly fileBytes: number;
  /** Fields that may be repeated, with or without brackets. */
  readonly lists?: ReadonlySet<string> | undefined;
  /** The turns of uploads; replaced in tests. */
  readonly turns?: UploadTurns;
  /**
   * Consumes a file completely and returns the value of its field. An error rejects the form. The form can also be rejected
   * later because of another field, so the caller must be able to discard the returned value.
   * @param signal is aborted when the form is rejected.
   */
  receiveFile(file: IncomingFile, signal: AbortSignal): Promise<Upload>;
}

/** Maximum body size in bytes of a form with one file, which is the `upload` of its route. */
export function maxFormBytes(fileBytes: number): number {
  return fileBytes + REST_BYTES;
}

/** The folder for files of forms. @param dataDir DATA_DIR. */
export function uploadFolder(dataDir: string): string {
  return join(dataDir, 'uploads');
}

/**
 * Creates the upload folder, accessible only to the current user, and removes the form folders that killed processes left
 * in it: immediately if their process ran on this host, otherwise by age.
 * @returns the number of removed folders.
 */
export async function prepareUploadFolder(folder: string, clock: Clock): Promise<number> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  let count = 0;
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    const isOld = found !== undefined && clock.now() - found.mtimeMs > ABANDONED_MS;
    if (!isOld && !isAbandoned(KIND, name)) continue;
    await rm(path, { recursive: true, force: true });
    count += 1;
  }
  return count;
}

/**
 * Reads a multipart form and stores its files in a folder. The caller must release the returned form. After an error all
 * files are removed.
 * @throws ServiceError like {@link readForm}, and 503 when the disk is full; the signal's reason after an abort.
 */
export async function receiveForm(
  request: Request,
  { folder, create = createPrivate, ...rest }: UploadSettings,
  signal: AbortSignal,
): Promise<ReceivedForm> {
  requireMultipart(request);
  const formFolder = await mkdtemp(join(folder, workFolderPrefix(KIND))).catch((error: unknown) => {
    throw toDiskError(error);
  });
  const release = () => rm(formFolder, { recursive: true, force: true });
  let files = 0;
  const receiveFile = async ({ bytes }: IncomingFile, aborted: AbortSignal) => {
    const path = join(formFolder, String(files));
    files += 1;
    let lengthBytes = 0;
    const measured = async function* () {
      for await (const chunk of bytes) {
        lengthBytes += chunk.length;
        yield chunk;
      }
    };
    await pipeline(measured(), create(path), { signal: aborted });
    return new StagedFile(path, lengthBytes);
  };
  try {
    return { fields: await readForm(request, { ...rest, receiveFile }, signal), release };
  } catch (error) {
    await release();
    throw toDiskError(error);
  }
}

/**
 * Reads a multipart form and passes its files to `settings.receiveFile` while they arrive. When the promise settles, no
 * call of `receiveFile` is running.
 * @throws ServiceError 415 for other content types and compressed bodies, 413 for a file or body over its limit, 408 below
 *   the minimum upload rate, 400 for a malformed form and for too many, too long or duplicate fields; errors of
 *   `receiveFile`; the signal's reason after an abort.
 */
export async function readForm<Upload extends object>(
  request: Request,
  settings: FormSettings<Upload>,
  signal: AbortSignal,
): Promise<FormFields<Upload>> {
  const contentType = requireMultipart(request);
  try {
    return await new FormReader(contentType, settings).read(request, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

/** @throws ServiceError 415. */
function requireMultipart(request: Request): string {
  assertNotEncoded(request.headers);
  const contentType = request.headers.get('content-type') ?? '';
  if (mediaTypeOf(contentType) === 'multipart/form-data') return contentType;
  const message = "The content type of the request body must be 'multipart/form-data'.";
  throw new ServiceError('unsupported_media_type', message);
}

/** Parses one form. */
class FormReader<Upload extends object> {
  readonly #settings: FormSettings<Upload>;
  readonly #parser: BusboyInstance;
  readonly #form: FormBuilder<Upload>;
  readonly #fileTask: Promise<void>[] = [];
  /** Aborted with the first error. */
  readonly #rejected = new AbortController();

  constructor(contentType: string, settings: FormSettings<Upload>) {
    this.#settings = settings;
    this.#form = new FormBuilder(settings.lists);
    this.#parser = parserFor(contentType, settings.fileBytes);
  }

  async read(request: Request, signal: AbortSignal): Promise<FormFields<Upload>> {
    const { fileBytes, turns = UPLOAD_TURNS } = this.#settings;
    const aborted = AbortSignal.any([signal, this.#rejected.signal]);
    this.#parser.on('field', (name, value, _, isCut) =>
      this.#rejectOnError(() => this.#field(name, value, isCut)),
    );
    this.#parser.on('file', (name = '', stream, filename) => {
      stream.once('limit', () => this.#rejected.abort(fileTooLarge(name, fileBytes)));
      // The reader of the stream reports the error; without a listener a truncated part would crash the process.
      stream.once('error', () => undefined);
      // Otherwise the reader would wait for the rest of the part after the form was rejected.
      const bytes = untilAborted(bytesOf(stream, this.#rejected.signal), aborted);
      const { fields: precedingFields } = this.#form;
      const file = { name, filename: filenameOf(filename), precedingFields, bytes };
      const fileTask = this.#settings
        .receiveFile(file, aborted)
        .then((upload) => this.#form.add(name, upload));
      this.#fileTask.push(fileTask.catch((error: unknown) => this.#rejected.abort(error)));
    });
    for (const limit of ['filesLimit', 'fieldsLimit', 'partsLimit'] as const) {
      this.#parser.once(limit, () => this.#rejected.abort(invalidRequest('Too many form fields.')));
    }
    try {
      // Otherwise the pipeline would wait for a stalled body after the form was rejected.
      const bytes = counted(request, maxFormBytes(fileBytes), (keyId) => turns.next(keyId, aborted));
      await pipeline(untilAborted(bytes, aborted), this.#parser, { signal: aborted });
    } catch (error) {
      this.#rejected.abort(error instanceof ServiceError ? error : notAForm());
    }
    await Promise.all(this.#fileTask);
    this.#rejected.signal.throwIfAborted();
    return this.#form.fields;
  }

  #field(name: string | undefined, value: string, isCut: boolean): void {
    if (isCut) {
      const shown = shortened(name ?? '');
      throw invalidRequest(
        `'${shown}' must be at most ${FIELD_BYTES} bytes.`,
        shown,
        'string_above_max_length',
      );
    }
    this.#form.add(name ?? '', value);
  }

  /** Rejects the form with an error of a parser listener, which no caller could catch. */
  #rejectOnError(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#rejected.abort(error);
    }
  }
}

/** @throws ServiceError 400 if the content type has no boundary. */
function parserFor(contentType: string, fileBytes: number): BusboyInstance {
  // The parser emits `limit` only for a file that is longer than `fileSize`.
  const limits = {
    fieldSize: FIELD_BYTES,
    fields: MAX_FIELDS + 1,
    // Includes parts without a name.
    parts: MAX_FIELDS + MAX_FILES,
    fileSize: fileBytes,
    files: MAX_FILES,
    headerPairs: 50,
  };
  try {
    return new Busboy({ headers: { 'content-type': contentType }, limits });
  } catch {
    throw notAForm();
  }
}

/**
 * Decodes a file name. Browsers, curl and SDKs escape only the quotation mark, CR and LF, as `%22`, `%0D` and `%0A`; every
 * other percent sign is literal (WHATWG HTML, multipart form data).
 */
function filenameOf(written: string | undefined): string | undefined {
  return written?.replace(/%22|%0D|%0A/g, decodeURIComponent);
}

/** The bytes of a part. Ends normally only if the part is complete. */
async function* bytesOf(
  stream: Readable,
  rejected: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* stream;
  } catch {
    rejected.throwIfAborted();
    throw notAForm();
  }
  // The parser ends the stream of a file that is too long at its limit.
  rejected.throwIfAborted();
}

/** Creates a file that only the current user can access. */
function createPrivate(path: string): Writable {
  return createWriteStream(path, { flags: 'wx', mode: 0o600 });
}

/**
 * The body in small chunks.
 * @param nextTurn waits for the turn of an API key, see {@link UploadTurns.next}.
 * @throws ServiceError 413 over the limit; the errors of `nextTurn`.
 */
async function* counted(request: Request, limitBytes: number, nextTurn: (keyId: string) => Promise<void>) {
  const { keyId = '' } = requestContextOf(request)?.principal ?? {};
  let lengthBytes = 0;
  let pieceEnd = UPLOAD_PIECE_BYTES;
  for await (const chunk of rateCheckedBody(request)) {
    lengthBytes += chunk.length;
    if (lengthBytes > limitBytes) throw tooLarge(limitBytes);
    for (; lengthBytes >= pieceEnd; pieceEnd += UPLOAD_PIECE_BYTES) await nextTurn(keyId);
    for (let at = 0; at < chunk.length; at += MAX_CHUNK_BYTES) yield chunk.subarray(at, at + MAX_CHUNK_BYTES);
  }
}

function fileTooLarge(name: string | undefined, fileBytes: number): ServiceError {
  const param = shortened(name ?? '');
  return new ServiceError('payload_too_large', `'${param}' must be a file of at most ${fileBytes} bytes.`, {
    param,
    code: 'payload_too_large',
  });
}
