/** Reads the input of a batch as a file, as bytes or as lines. */

import type { BatchRecord } from '../../../src/contract/stores/batch-store.ts';
import type { BlobFile, BlobStore } from '../../../src/contract/stores/blob-store.ts';
import {
  type FileRecord,
  type FileStore,
  fileBlob,
  MAX_INPUT_FILE_BYTES,
} from '../../../src/contract/stores/file-store.ts';
import { FIRST_LINE, type InputLine, type LinePosition, LineSplitter } from './line-splitter.ts';

export interface InputDeps {
  readonly blobs: BlobStore;
  readonly files: FileStore;
}

const BYTES_LOST = 'the bytes of an input file are lost';

/** The input is permanently lost, as opposed to temporarily unavailable. */
export class InputLostError extends Error {}

/** The whole input: an open file, which the receiver must close, or a byte stream if blobs are not local files. */
export type InputSource =
  | { readonly kind: 'file'; readonly file: BlobFile }
  | { readonly kind: 'bytes'; readonly bytes: AsyncIterable<Uint8Array> };

export type InputRef = Pick<BatchRecord, 'organization' | 'inputFile' | 'times'>;

/**
 * Opens an input for a process that reads all of it.
 * @param signal cancels reading a byte stream.
 * @throws InputLostError if the file is missing, although files are retained while a batch reads them; the errors of
 *   the stores. For a byte stream, reading it throws these errors.
 */
export async function openInput(deps: InputDeps, batch: InputRef, signal: AbortSignal): Promise<InputSource> {
  const { blobs } = deps;
  if (blobs.openFile === undefined)
    return { kind: 'bytes', bytes: readInputBytes(deps, batch, signal, FIRST_LINE) };
  await getInputFile(deps, batch);
  const file = await blobs.openFile(fileBlob(batch.inputFile));
  if (file === undefined) throw new InputLostError(BYTES_LOST);
  return { kind: 'file', file };
}

/**
 * Yields the lines of a validated input from a position on, in chunks. Their bytes are valid until the next chunk is
 * read. The line length is not limited: it was validated with the settings of that time.
 * @throws InputLostError as {@link openInput}; the errors of the stores; the reason of the signal.
 */
export async function* readInputLines(
  deps: InputDeps,
  batch: InputRef,
  signal: AbortSignal,
  from: LinePosition,
): AsyncGenerator<readonly InputLine[], void, undefined> {
  const splitter = new LineSplitter(MAX_INPUT_FILE_BYTES, from);
  for await (const bytes of readInputBytes(deps, batch, signal, from)) yield [...splitter.split(bytes)];
  yield [...splitter.flush()];
}

async function* readInputBytes(
  deps: InputDeps,
  batch: InputRef,
  signal: AbortSignal,
  from: LinePosition,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  const { lengthBytes } = await getInputFile(deps, batch);
  if (from.offsetBytes >= lengthBytes) return;
  const range = { start: from.offsetBytes, end: lengthBytes };
  const bytes = await deps.blobs.read(fileBlob(batch.inputFile), signal, range);
  if (bytes === undefined) throw new InputLostError(BYTES_LOST);
  yield* bytes;
}

async function getInputFile(
  { files }: InputDeps,
  { organization, inputFile: id, times }: InputRef,
): Promise<FileRecord> {
  // Looked up at the creation time of the batch: a file that expires later is retained while the batch reads it.
  const file = await files.get(organization, id, times.created);
  if (file === undefined) throw new InputLostError('the input file of a batch is lost');
  return file;
}
