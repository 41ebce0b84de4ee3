/**
 * Reads members of a zip file (PKWARE APPNOTE 6.3) without blocking the thread: the service fetches models while it serves
 * requests. Zip64 and encryption are not supported; wheels of less than 4 GB need neither.
 */

import type { FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';
import { inflateRaw } from 'node:zlib';
import { ArchiveError } from './archive-error.ts';

export interface ZipMember {
  readonly name: string;
  readonly method: number;
  readonly bytes: number;
  readonly packedBytes: number;
  /** Position of its local header. */
  readonly at: number;
}

const inflate = promisify(inflateRaw);

const END_SIGNATURE = 0x06054b50;
const MEMBER_SIGNATURE = 0x02014b50;
const LOCAL_SIGNATURE = 0x04034b50;
const END_BYTES = 22;
const MEMBER_BYTES = 46;
const LOCAL_BYTES = 30;
const MAX_COMMENT_BYTES = 0xffff;
const MAX_DIRECTORY_BYTES = 16 << 20;
const STORED = 0;
const DEFLATED = 8;

/** The members of the archive, from its directory. @throws ArchiveError if the archive is damaged. */
export async function zipMembers(file: FileHandle): Promise<ZipMember[]> {
  const { size } = await file.stat();
  const tailBytes = Math.min(size, END_BYTES + MAX_COMMENT_BYTES);
  const tail = await readAt(file, size - tailBytes, tailBytes);
  let end = tail.length - END_BYTES;
  while (end >= 0 && tail.readUInt32LE(end) !== END_SIGNATURE) end -= 1;
  if (end < 0) throw new ArchiveError('Damaged archive: it has no directory.');
  const count = tail.readUInt16LE(end + 10);
  const directoryBytes = tail.readUInt32LE(end + 12);
  if (directoryBytes > MAX_DIRECTORY_BYTES) {
    throw new ArchiveError(
      `The directory has ${directoryBytes} bytes; the maximum is ${MAX_DIRECTORY_BYTES}.`,
    );
  }
  const directory = await readAt(file, tail.readUInt32LE(end + 16), directoryBytes);
  const members: ZipMember[] = [];
  for (let i = 0, at = 0; i < count; i++) {
    if (at + MEMBER_BYTES > directory.length || directory.readUInt32LE(at) !== MEMBER_SIGNATURE) {
      throw new ArchiveError('Damaged archive: its directory is invalid.');
    }
    const nameBytes = directory.readUInt16LE(at + 28);
    members.push({
      name: directory.toString('utf8', at + MEMBER_BYTES, at + MEMBER_BYTES + nameBytes),
      method: directory.readUInt16LE(at + 10),
      packedBytes: directory.readUInt32LE(at + 20),
      bytes: directory.readUInt32LE(at + 24),
      at: directory.readUInt32LE(at + 42),
    });
    at += MEMBER_BYTES + nameBytes + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  }
  return members;
}

/**
 * Unpacks a member; the caller has checked both sizes.
 * @throws ArchiveError if it is damaged or its size differs from the directory; errors of zlib.
 */
export async function readZipMember(file: FileHandle, member: ZipMember): Promise<Uint8Array> {
  const header = await readAt(file, member.at, LOCAL_BYTES);
  if (header.readUInt32LE(0) !== LOCAL_SIGNATURE) {
    throw new ArchiveError(`Damaged archive: ${member.name} has no header.`);
  }
  const dataAt = member.at + LOCAL_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28);
  const packed = await readAt(file, dataAt, member.packedBytes);
  const data = await unpack(packed, member);
  if (data.length === member.bytes) return data;
  throw new ArchiveError(
    `Unpacked size of ${member.name} is ${data.length} bytes; expected ${member.bytes}.`,
  );
}

async function unpack(packed: Buffer, { name, method, bytes }: ZipMember): Promise<Buffer> {
  if (method === STORED) return packed;
  // One byte more than expected, so that a member without bytes is possible.
  if (method === DEFLATED) return await inflate(packed, { maxOutputLength: bytes + 1 });
  throw new ArchiveError(`Compression method ${method} of ${name} is not supported.`);
}

/** @throws ArchiveError if the file ends before. */
async function readAt(file: FileHandle, at: number, bytes: number): Promise<Buffer> {
  const buffer = Buffer.alloc(bytes);
  let done = 0;
  while (done < bytes) {
    const { bytesRead } = await file.read(buffer, done, bytes - done, at + done);
    if (bytesRead === 0) throw new ArchiveError('Damaged archive: it is truncated.');
    done += bytesRead;
  }
  return buffer;
}
