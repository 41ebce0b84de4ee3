/** Multipart forms whose files go elsewhere while they arrive, so that memory does not depend on their size. */

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
import { diskFailure } from '../../kit/storage/disk-errors.ts';
import { mediaTypeOf, notAForm, refuseEncoded, tooLarge } from './body.ts';
import { FormBuilder, type FormFields, MAX_FIELDS, shortened } from './form-fields.ts';
import { pacedBody } from './upload-rate.ts';

/** What a form may have beside the bytes of its file: other fields, names, boundaries. */
const REST_BYTES = 1024 * 1024;
/** The longest text that a form has: 32,000 characters of a prompt, of up to four bytes each. */
const FIELD_BYTES = 128 * 1024;
const MAX_FILES = 16;
/**
 * The parser goes on to the end of a portion when the form is refused. One that the runtime gives may be the whole body, and
 * a million parts would keep everybody else waiting for seconds.
 */
const PORTION_BYTES = 16 * 1024;
/** Of the folders of forms. */
const KIND = 'form';
/**
 * A folder that is older belongs to nobody, wherever its process ran: no request waits so long for its next byte and its
 * answer.
 */
const ABANDONED_MS = 6 * 3_600_000;

/** A file of a form, on disk for as long as its form is held. */
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
  /** Largest file, in bytes. */
  readonly fileBytes: number;
  /** Fields of the form that may be given more than once, with brackets or without. */
  readonly lists?: ReadonlySet<string>;
  /** Makes the file of an upload, for tests. */
  readonly create?: (path: string) => Writable;
}

/** A file of a form while it arrives. */
export interface ArrivingFile {
  /** Of the field. */
  readonly name: string;
  /** As the client calls the file, without folders. */
  readonly filename: string | undefined;
  /** What the form had before it. */
  readonly earlier: FormFields<object>;
  /** As fast as it is taken. Throws when the form is refused or broken. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

export interface FormSettings<Upload extends object> {
  /** Largest file, in bytes. */
  readonly fileBytes: number;
  /** Fields of the form that may be given more than once, with brackets or without. */
  readonly lists?: ReadonlySet<string> | undefined;
  /**
   * Takes a file to its end; what it gives is the field's value. What it throws refuses the form. Another file may be
   * refused after it, so who takes one is ready to give it up.
   * @param signal fires when the form is refused.
   */
  take(file: ArrivingFile, signal: AbortSignal): Promise<Upload>;
}

/** Largest body of a form with one file, in bytes; what its route announces (see `UPLOAD_BYTES`). */
export function largestForm(fileBytes: number): number {
  return fileBytes + REST_BYTES;
}

/**
 * Makes the folder, for this user alone, and removes what processes that were killed left in it: at once where this one
 * can tell that they have ended.
 * @returns how many folders it removed.
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
 * Reads a multipart form into a folder. The caller owns what it gets and releases it; after a failure nothing is left.
 * @throws ServiceError as {@link readForm}, and 503 when the disk is full; the signal's reason after an abort.
 */
export async function receiveForm(
  request: Request,
  { folder, create = createPrivate, ...rest }: UploadSettings,
  signal: AbortSignal,
): Promise<ReceivedForm> {
  refuseOtherTypes(request);
  const place = await mkdtemp(join(folder, workFolderPrefix(KIND))).catch((error: unknown) => {
    throw diskFailure(error);
  });
  const release = () => rm(place, { recursive: true, force: true });
  let files = 0;
  const take = async ({ bytes }: ArrivingFile, ended: AbortSignal) => {
    const path = join(place, String(files));
    files += 1;
    let lengthBytes = 0;
    const measured = async function* () {
      for await (const chunk of bytes) {
        lengthBytes += chunk.length;
        yield chunk;
      }
    };
    await pipeline(measured(), create(path), { signal: ended });
    return new StagedFile(path, lengthBytes);
  };
  try {
    return { fields: await readForm(request, { ...rest, take }, signal), release };
  } catch (error) {
    await release();
    throw diskFailure(error);
  }
}

/**
 * Reads a multipart form whose files somebody takes while they arrive.
 * @throws ServiceError 415 for another content type and for a compressed body, 413 for a file or a body over its limit, 408 for one that comes
 *   too slowly, 400 for a broken
 *   form and for fields that are too many, too long or given twice; what `take` throws; the signal's reason after an
 *   abort. Nothing is being taken any more then.
 */
export async function readForm<Upload extends object>(
  request: Request,
  settings: FormSettings<Upload>,
  signal: AbortSignal,
): Promise<FormFields<Upload>> {
  const contentType = refuseOtherTypes(request);
  try {
    return await new FormReader(contentType, settings).read(request, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

/** @throws ServiceError 415. */
function refuseOtherTypes(request: Request): string {
  refuseEncoded(request.headers);
  const contentType = request.headers.get('content-type') ?? '';
  if (mediaTypeOf(contentType) === 'multipart/form-data') return contentType;
  const message = "The content type of the request body must be 'multipart/form-data'.";
  throw new ServiceError('unsupported_media_type', message);
}

/** Takes one form apart. */
class FormReader<Upload extends object> {
  readonly #settings: FormSettings<Upload>;
  readonly #parser: BusboyInstance;
  readonly #form: FormBuilder<Upload>;
  readonly #taken: Promise<void>[] = [];
  /** Fires with the first reason to read no further. */
  readonly #refused = new AbortController();

  constructor(contentType: string, settings: FormSettings<Upload>) {
    this.#settings = settings;
    this.#form = new FormBuilder(settings.lists);
    this.#parser = parserFor(contentType, settings.fileBytes);
  }

  async read(request: Request, signal: AbortSignal): Promise<FormFields<Upload>> {
    const { fileBytes } = this.#settings;
    const ended = AbortSignal.any([signal, this.#refused.signal]);
    this.#parser.on('field', (name, value, _, isCut) =>
      this.#orRefuse(() => this.#field(name, value, isCut)),
    );
    this.#parser.on('file', (name = '', stream, filename) => {
      stream.once('limit', () => this.#refused.abort(fileTooLarge(name, fileBytes)));
      // Told by what reads it; without a listener a part that breaks off would end the process.
      stream.once('error', () => undefined);
      // A part whose rest never comes would be waited for, though the form is given up.
      const bytes = untilAborted(bytesOf(stream, this.#refused.signal), ended);
      const { fields: earlier } = this.#form;
      const file = { name, filename: filenameOf(filename), earlier, bytes };
      const taken = this.#settings.take(file, ended).then((upload) => this.#form.add(name, upload));
      this.#taken.push(taken.catch((error: unknown) => this.#refused.abort(error)));
    });
    for (const limit of ['filesLimit', 'fieldsLimit', 'partsLimit'] as const) {
      this.#parser.once(limit, () => this.#refused.abort(invalidRequest('The form has too many fields.')));
    }
    try {
      // A body that says nothing more would be waited for, though nobody wants it.
      const bytes = untilAborted(counted(request, largestForm(fileBytes)), ended);
      await pipeline(bytes, this.#parser, { signal: ended });
    } catch (error) {
      this.#refused.abort(error instanceof ServiceError ? error : notAForm());
    }
    await Promise.all(this.#taken);
    this.#refused.signal.throwIfAborted();
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

  /** What is thrown in a listener of the parser would reach nobody. */
  #orRefuse(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#refused.abort(error);
    }
  }
}

/** @throws ServiceError 400 when the content type names no boundary. */
function parserFor(contentType: string, fileBytes: number): BusboyInstance {
  // The parser ends a file that has its limit, so that one more byte is what tells.
  const limits = {
    fieldSize: FIELD_BYTES,
    fields: MAX_FIELDS + 1,
    // Those without a name too.
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
 * The name as the client has it. Browsers, curl and SDKs write the three characters that would end it as `%22`, `%0D` and
 * `%0A`, and leave every other percent sign as it is (WHATWG HTML, multipart form data).
 */
function filenameOf(written: string | undefined): string | undefined {
  return written?.replace(/%22|%0D|%0A/g, decodeURIComponent);
}

/** A part's bytes, which are whole when they end. */
async function* bytesOf(stream: Readable, refused: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* stream;
  } catch {
    refused.throwIfAborted();
    throw notAForm();
  }
  // A file that is too long ends at its limit.
  refused.throwIfAborted();
}

/** A new file for this user alone. */
function createPrivate(path: string): Writable {
  return createWriteStream(path, { flags: 'wx', mode: 0o600 });
}

/** The body in portions, as long as it is no longer than it may be. */
async function* counted(request: Request, limitBytes: number) {
  let lengthBytes = 0;
  for await (const chunk of pacedBody(request)) {
    lengthBytes += chunk.length;
    if (lengthBytes > limitBytes) throw tooLarge(limitBytes);
    for (let at = 0; at < chunk.length; at += PORTION_BYTES) yield chunk.subarray(at, at + PORTION_BYTES);
  }
}

function fileTooLarge(name: string | undefined, fileBytes: number): ServiceError {
  const param = shortened(name ?? '');
  return new ServiceError('payload_too_large', `'${param}' must be a file of at most ${fileBytes} bytes.`, {
    param,
    code: 'payload_too_large',
  });
}
