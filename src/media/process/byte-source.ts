import type { FileHandle } from 'node:fs/promises';

/** Random access to the bytes of an open file, or to a corrected view of it. Parsers get this and never a path. */
export interface ByteSource {
  /** Length in bytes. */
  readonly size: number;
  /** Bytes from a position; fewer than `length`, possibly none, at the end. */
  read(position: number, length: number): Promise<Uint8Array<ArrayBuffer>>;
}

/** The bytes of an open file. Does not close it. */
export async function fileBytes(file: FileHandle): Promise<ByteSource> {
  const { size } = await file.stat();
  return {
    size,
    async read(position, length) {
      const bytes = new Uint8Array(Math.max(0, Math.min(length, size - position)));
      if (bytes.length === 0) return bytes;
      const { bytesRead } = await file.read(bytes, 0, bytes.length, position);
      return bytes.subarray(0, bytesRead);
    },
  };
}
