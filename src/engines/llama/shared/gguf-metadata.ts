/**
 * Reader of the metadata of a GGUF file, versions 2 and 3. Layout, little-endian (gguf.md in the repository of ggml): magic
 * `GGUF`, u32 version, u64 number of tensors, u64 number of pairs; for each pair its key, u32 value type, value; then the
 * tensors, which are not read. Strings are u64 length and UTF-8 text; arrays are u32 element type, u64 length and elements.
 */

import { type FileHandle, open } from 'node:fs/promises';

/** Value of a pair; of an array, its number of elements. Integers above 2^53 lose precision. */
export type GgufValue = string | number | boolean;

/** The file is not a GGUF file, is damaged, or exceeds a limit. */
export class GgufError extends Error {
  override readonly name = 'GgufError';
}

const MAGIC = 0x46554747;
const VERSIONS: readonly number[] = [2, 3];
/** Length of a key according to the specification. */
const MAX_KEY_BYTES = 65_535;
/** Longest text that is kept; the longest known values are chat templates of less than 100 kB. */
const MAX_STRING_BYTES = 1 << 20;
const MAX_PAIRS = 65_536;
/** All text that is kept: keys and values. */
const MAX_TEXT_BYTES = 8 << 20;
const MAX_ARRAY_DEPTH = 4;
/** The metadata of models with a vocabulary of 256,000 tokens has about 15 MB. */
const MAX_METADATA_BYTES = 128 << 20;
const CHUNK_BYTES = 256 * 1024;

const TYPE_UINT32 = 4;
const TYPE_UINT64 = 10;
const TYPE_BOOL = 7;
const TYPE_STRING = 8;
const TYPE_ARRAY = 9;
/** Scalar types by number, with their size in bytes and their reader. */
const SCALARS: Readonly<Record<number, { bytes: number; read: (chunk: Buffer, at: number) => number }>> = {
  0: { bytes: 1, read: (chunk, at) => chunk.readUInt8(at) },
  1: { bytes: 1, read: (chunk, at) => chunk.readInt8(at) },
  2: { bytes: 2, read: (chunk, at) => chunk.readUInt16LE(at) },
  3: { bytes: 2, read: (chunk, at) => chunk.readInt16LE(at) },
  [TYPE_UINT32]: { bytes: 4, read: (chunk, at) => chunk.readUInt32LE(at) },
  5: { bytes: 4, read: (chunk, at) => chunk.readInt32LE(at) },
  6: { bytes: 4, read: (chunk, at) => chunk.readFloatLE(at) },
  [TYPE_BOOL]: { bytes: 1, read: (chunk, at) => chunk.readUInt8(at) },
  [TYPE_UINT64]: { bytes: 8, read: (chunk, at) => Number(chunk.readBigUInt64LE(at)) },
  11: { bytes: 8, read: (chunk, at) => Number(chunk.readBigInt64LE(at)) },
  12: { bytes: 8, read: (chunk, at) => chunk.readDoubleLE(at) },
};

/**
 * Reads the scalar and string values of a GGUF file by key. The elements of arrays are skipped.
 * @throws GgufError if the file is not a valid GGUF file; system errors if it cannot be read; the signal's reason after an abort.
 */
export async function readGgufMetadata(
  path: string,
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, GgufValue>> {
  const file = await open(path, 'r');
  try {
    return await readPairs(new ByteReader(file, (await file.stat()).size, signal));
  } catch (error) {
    if (error instanceof GgufError) throw new GgufError(`${path}: ${error.message}`);
    throw error;
  } finally {
    await file.close();
  }
}

async function readPairs(reader: ByteReader): Promise<Map<string, GgufValue>> {
  if (reader.remaining < 4 || (await reader.scalar(TYPE_UINT32)) !== MAGIC) {
    throw new GgufError('not a GGUF file: the magic number is missing.');
  }
  const version = await reader.scalar(TYPE_UINT32);
  if (!VERSIONS.includes(version)) {
    throw new GgufError(`GGUF version ${version} is not supported; supported: ${VERSIONS.join(', ')}.`);
  }
  // Number of tensors.
  reader.skip(8);
  const pairs = await reader.scalar(TYPE_UINT64);
  if (pairs > MAX_PAIRS) throw new GgufError(`${pairs} metadata pairs; the maximum is ${MAX_PAIRS}.`);
  const values = new Map<string, GgufValue>();
  const keys = new Set<string>();
  let textBytes = 0;
  for (let i = 0; i < pairs; i++) {
    const key = await reader.text(MAX_KEY_BYTES);
    if (keys.has(key)) throw new GgufError(`duplicate key '${key.slice(0, 100)}'.`);
    keys.add(key);
    const type = await reader.scalar(TYPE_UINT32);
    if (type === TYPE_ARRAY) {
      values.set(key, await skipArray(reader, 1));
    } else {
      const value = type === TYPE_STRING ? await reader.text(MAX_STRING_BYTES) : await reader.scalar(type);
      values.set(key, type === TYPE_BOOL ? value !== 0 : value);
      if (typeof value === 'string') textBytes += value.length;
    }
    textBytes += key.length;
    if (textBytes > MAX_TEXT_BYTES) {
      throw new GgufError(`the metadata has more than ${MAX_TEXT_BYTES} characters of text.`);
    }
  }
  return values;
}

/** Returns the number of elements. */
async function skipArray(reader: ByteReader, depth: number): Promise<number> {
  if (depth > MAX_ARRAY_DEPTH)
    throw new GgufError(`arrays are nested more than ${MAX_ARRAY_DEPTH} levels deep.`);
  const type = await reader.scalar(TYPE_UINT32);
  const length = await reader.scalar(TYPE_UINT64);
  const scalar = SCALARS[type];
  if (scalar !== undefined) {
    reader.skip(length * scalar.bytes);
    return length;
  }
  if (type !== TYPE_STRING && type !== TYPE_ARRAY) throw new GgufError(`unknown value type ${type}.`);
  reader.require(length * 8);
  for (let i = 0; i < length; i++) {
    if (type === TYPE_ARRAY) await skipArray(reader, depth + 1);
    else if (!reader.skipBufferedText()) reader.skip(await reader.scalar(TYPE_UINT64));
  }
  return length;
}

/** Sequential reader of a file in chunks. */
class ByteReader {
  readonly #file: FileHandle;
  /** Size of the readable part of the file. */
  readonly #size: number;
  readonly #signal: AbortSignal | undefined;
  /** Bytes of the file from `#start`. */
  #chunk: Buffer = Buffer.alloc(0);
  #start = 0;
  /** Position relative to the start of the chunk; after a skip it can be beyond the end of the chunk. */
  #at = 0;

  constructor(file: FileHandle, size: number, signal: AbortSignal | undefined) {
    this.#file = file;
    this.#size = Math.min(size, MAX_METADATA_BYTES);
    this.#signal = signal;
  }

  /** Number of bytes until the end of the file. */
  get remaining(): number {
    return this.#size - this.#start - this.#at;
  }

  /** @throws GgufError if the file has fewer bytes. */
  skip(bytes: number): void {
    this.require(bytes);
    this.#at += bytes;
  }

  /**
   * Skips a string whose bytes are in the chunk. Vocabularies have several 100,000 strings, which would be slow with an await
   * for each.
   */
  skipBufferedText(): boolean {
    const end = this.#at + 8;
    if (end > this.#chunk.length) return false;
    const next = end + Number(this.#chunk.readBigUInt64LE(this.#at));
    if (next > this.#chunk.length) return false;
    this.#at = next;
    return true;
  }

  async text(maxBytes: number): Promise<string> {
    const bytes = await this.scalar(TYPE_UINT64);
    this.require(bytes);
    if (bytes > maxBytes) throw new GgufError(`a text has ${bytes} bytes; the maximum is ${maxBytes}.`);
    await this.#fill(bytes);
    const text = this.#chunk.toString('utf8', this.#at, this.#at + bytes);
    this.#at += bytes;
    return text;
  }

  /** Reads a number of a scalar type; a boolean is 0 or 1. */
  async scalar(type: number): Promise<number> {
    const scalar = SCALARS[type];
    if (scalar === undefined) throw new GgufError(`unknown value type ${type}.`);
    await this.#fill(scalar.bytes);
    const at = this.#at;
    this.#at += scalar.bytes;
    return scalar.read(this.#chunk, at);
  }

  /** Reads until the chunk has the next bytes. */
  async #fill(bytes: number): Promise<void> {
    this.require(bytes);
    if (this.#at + bytes <= this.#chunk.length) return;
    this.#signal?.throwIfAborted();
    this.#start += this.#at;
    this.#at = 0;
    const wanted = Math.min(Math.max(bytes, CHUNK_BYTES), this.#size - this.#start);
    const chunk = Buffer.alloc(wanted);
    let done = 0;
    while (done < wanted) {
      const { bytesRead } = await this.#file.read(chunk, done, wanted - done, this.#start + done);
      if (bytesRead === 0) throw new GgufError('the file was shortened while it was read.');
      done += bytesRead;
    }
    this.#chunk = chunk;
  }

  /** @throws GgufError if fewer bytes remain. */
  require(bytes: number): void {
    if (bytes <= this.remaining) return;
    throw new GgufError(
      `the metadata ends after byte ${this.#size}: the file is truncated or damaged, or its metadata is too large.`,
    );
  }
}
