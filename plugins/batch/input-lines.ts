/** The input of a batch, as bytes and as lines, read as it is consumed. */

import type { BatchRecord } from '../../src/contract/batch-store.ts';
import type { BlobStore } from '../../src/contract/blob-store.ts';
import { type FileStore, fileBlob, INPUT_FILE_BYTES } from '../../src/contract/file-store.ts';
import { FIRST_LINE, type InputLine, LineCutter, type LinePlace } from './line-cutter.ts';

export interface InputParts {
  readonly blobs: BlobStore;
  readonly files: FileStore;
}

/** The input is not there any more, and will not come back: not that it cannot be reached. */
export class InputLost extends Error {}

export type InputOf = Pick<BatchRecord, 'organization' | 'inputFile' | 'times'>;

/**
 * Bytes from a place on.
 * @throws InputLost when the file is gone, which it is not to be while a batch reads it; what the stores throw; the
 *   signal's reason.
 */
export async function* inputBytes(
  { blobs, files }: InputParts,
  { organization, inputFile, times }: InputOf,
  signal: AbortSignal,
  from: LinePlace = FIRST_LINE,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  // It was there when the batch was made; what expires while a batch reads it is kept.
  const file = await files.get(organization, inputFile, times.created);
  if (file === undefined) throw new InputLost('the input file of a batch is gone');
  if (from.offsetBytes >= file.lengthBytes) return;
  const range = { start: from.offsetBytes, end: file.lengthBytes };
  const bytes = await blobs.read(fileBlob(inputFile), signal, range);
  if (bytes === undefined) throw new InputLost('the bytes of an input file are gone');
  yield* bytes;
}

/**
 * Lines of an input that was checked, from a place on, some at a time. Their bytes are valid until the next are asked
 * for. How long they may be was the check's matter, by the settings of then.
 * @throws as {@link inputBytes}.
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
