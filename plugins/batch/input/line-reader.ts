/** The input of a batch, as bytes and as lines, read as it is consumed. */

import type { BatchRecord } from '../../../src/contract/stores/batch-store.ts';
import type { BlobFile, BlobStore } from '../../../src/contract/stores/blob-store.ts';
import {
  type FileRecord,
  type FileStore,
  fileBlob,
  INPUT_FILE_BYTES,
} from '../../../src/contract/stores/file-store.ts';
import { FIRST_LINE, type InputLine, LineCutter, type LinePlace } from './line-splitter.ts';

export interface InputParts {
  readonly blobs: BlobStore;
  readonly files: FileStore;
}

const BYTES_GONE = 'the bytes of an input file are gone';

/** The input is not there any more, and will not come back: not that it cannot be reached. */
export class InputLost extends Error {}

/** All of an input: an open file, which who has it closes, or bytes where blobs are no files of this machine. */
export type WholeInput =
  | { readonly kind: 'file'; readonly file: BlobFile }
  | { readonly kind: 'bytes'; readonly bytes: AsyncIterable<Uint8Array> };

export type InputOf = Pick<BatchRecord, 'organization' | 'inputFile' | 'times'>;

/**
 * Opens an input for a process that reads all of it.
 * @param signal ends the reading of bytes.
 * @throws InputLost when the file is gone, which it is not to be while a batch reads it; what the stores throw. Where
 *   it is bytes, reading them throws it.
 */
export async function openInput(parts: InputParts, batch: InputOf, signal: AbortSignal): Promise<WholeInput> {
  const { blobs } = parts;
  if (blobs.openFile === undefined)
    return { kind: 'bytes', bytes: inputBytes(parts, batch, signal, FIRST_LINE) };
  await inputFile(parts, batch);
  const file = await blobs.openFile(fileBlob(batch.inputFile));
  if (file === undefined) throw new InputLost(BYTES_GONE);
  return { kind: 'file', file };
}

/**
 * Lines of an input that was checked, from a place on, some at a time. Their bytes are valid until the next are asked
 * for. How long they may be was the check's matter, by the settings of then.
 * @throws InputLost as above; what the stores throw; the signal's reason.
 */
export async function* inputLines(
  parts: InputParts,
  batch: InputOf,
  signal: AbortSignal,
  from: LinePlace,
): AsyncGenerator<readonly InputLine[], void, undefined> {
  const cutter = new LineCutter(INPUT_FILE_BYTES, from);
  for await (const bytes of inputBytes(parts, batch, signal, from)) yield [...cutter.cut(bytes)];
  yield [...cutter.end()];
}

async function* inputBytes(
  parts: InputParts,
  batch: InputOf,
  signal: AbortSignal,
  from: LinePlace,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  const { lengthBytes } = await inputFile(parts, batch);
  if (from.offsetBytes >= lengthBytes) return;
  const range = { start: from.offsetBytes, end: lengthBytes };
  const bytes = await parts.blobs.read(fileBlob(batch.inputFile), signal, range);
  if (bytes === undefined) throw new InputLost(BYTES_GONE);
  yield* bytes;
}

async function inputFile(
  { files }: InputParts,
  { organization, inputFile: id, times }: InputOf,
): Promise<FileRecord> {
  // It was there when the batch was made; what expires while a batch reads it is kept.
  const file = await files.get(organization, id, times.created);
  if (file === undefined) throw new InputLost('the input file of a batch is gone');
  return file;
}
