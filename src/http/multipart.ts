/** Multipart forms whose files go to disk while they arrive, so that memory does not depend on their size. */

import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import type { Clock } from '../contract/clock.ts';
import { invalidRequest, ServiceError } from '../contract/error.ts';
import { diskFailure, isDiskFailure } from '../kit/disk-failure.ts';
import { mediaTypeOf, notAForm, tooLarge } from './body.ts';
import { FormBuilder, type FormFields, shortened } from './form-fields.ts';

/** What a form may have beside the bytes of its file: other fields, names, boundaries. */
const REST_BYTES = 1024 * 1024;
const FIELD_BYTES = 64 * 1024;
const MAX_FILES = 16;
/** A folder that is older belongs to nobody: no request waits so long for its next byte and its answer. */
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

/** Largest body of a form with one file, in bytes; what its route announces (see `UPLOAD_BYTES`). */
export function largestForm(fileBytes: number): number {
  return fileBytes + REST_BYTES;
}

/** Makes the folder, for this user alone, and removes what a process that was killed left in it. */
export async function prepareUploadFolder(folder: string, clock: Clock): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found && clock.now() - found.mtimeMs > ABANDONED_MS) await rm(path, { recursive: true, force: true });
  }
}

/**
 * Reads a multipart form. The caller owns what it gets and releases it; after a failure nothing is left.
 * @throws ServiceError 415 for another content type, 413 for a file or a body over its limit, 400 for a broken
 *   form and for fields that are too many, too long or given twice, 503 when the disk is full; the signal's reason after an
 *   abort.
 */
export async function receiveForm(
  request: Request,
  settings: UploadSettings,
  signal: AbortSignal,
): Promise<ReceivedForm> {
  const contentType = request.headers.get('content-type') ?? '';
  if (mediaTypeOf(contentType) !== 'multipart/form-data') {
    const message = "The content type of the request body must be 'multipart/form-data'.";
    throw new ServiceError('unsupported_media_type', message);
  }
  const place = await mkdtemp(join(settings.folder, 'form-')).catch((error: unknown) => {
    throw diskFailure(error);
  });
  const release = () => rm(place, { recursive: true, force: true });
  try {
    const reader = new FormReader(contentType, place, settings);
    return { fields: await reader.read(request.body, signal), release };
  } catch (error) {
    await release();
    signal.throwIfAborted();
    throw error;
  }
}

/** Takes one form apart. */
class FormReader {
  readonly #place: string;
  readonly #fileBytes: number;
  readonly #create: (path: string) => Writable;
  readonly #parser: BusboyInstance;
  readonly #form: FormBuilder<StagedFile>;
  readonly #writes: Promise<void>[] = [];
  /** Fires with the first reason to read no further. */
  readonly #refused = new AbortController();

  constructor(
    contentType: string,
    place: string,
    { fileBytes, lists, create = createPrivate }: UploadSettings,
  ) {
    this.#form = new FormBuilder(lists);
    this.#place = place;
    this.#fileBytes = fileBytes;
    this.#create = create;
    this.#parser = parserFor(contentType, fileBytes);
  }

  async read(body: ReadableStream<Uint8Array> | null, signal: AbortSignal): Promise<FormFields<StagedFile>> {
    const ended = AbortSignal.any([signal, this.#refused.signal]);
    this.#parser.on('field', (name, value, _, isCut) =>
      this.#orRefuse(() => this.#field(name, value, isCut)),
    );
    this.#parser.on('file', (name, stream) => {
      stream.once('limit', () => this.#refused.abort(fileTooLarge(name, this.#fileBytes)));
      const path = join(this.#place, String(this.#writes.length));
      const write = pipeline(stream, this.#create(path), { signal: ended }).then(() => {
        this.#form.add(name ?? '', new StagedFile(path, stream.bytesRead));
      });
      // A part that breaks off fails the parser too; a disk that is full fails here alone.
      write.catch((error: unknown) => {
        if (error instanceof ServiceError || isDiskFailure(error)) this.#refused.abort(diskFailure(error));
      });
      this.#writes.push(write);
    });
    for (const limit of ['filesLimit', 'fieldsLimit', 'partsLimit'] as const) {
      this.#parser.once(limit, () => this.#refused.abort(invalidRequest('The form has too many fields.')));
    }
    try {
      await pipeline(counted(body, largestForm(this.#fileBytes)), this.#parser, { signal: ended });
      await Promise.all(this.#writes);
    } catch (error) {
      if (!this.#refused.signal.aborted)
        this.#refused.abort(error instanceof ServiceError ? error : notAForm());
      await Promise.allSettled(this.#writes);
    }
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
    fields: 1001,
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

/** A new file for this user alone. */
function createPrivate(path: string): Writable {
  return createWriteStream(path, { flags: 'wx', mode: 0o600 });
}

/** The body, as long as it is no longer than it may be. */
async function* counted(body: ReadableStream<Uint8Array> | null, limitBytes: number) {
  let lengthBytes = 0;
  for await (const chunk of body ?? []) {
    lengthBytes += chunk.length;
    if (lengthBytes > limitBytes) throw tooLarge(limitBytes);
    yield chunk;
  }
}

function fileTooLarge(name: string | undefined, fileBytes: number): ServiceError {
  const param = shortened(name ?? '');
  return new ServiceError('payload_too_large', `'${param}' must be a file of at most ${fileBytes} bytes.`, {
    param,
    code: 'payload_too_large',
  });
}
