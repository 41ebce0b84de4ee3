import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { Parser, type ReadEntry } from 'tar';
import { ArchiveError } from './archive-error.ts';
import { readZipMember, zipMembers } from './zip-file.ts';

/** `zip` is a wheel of PyPI, `tgz` a tarball of npm or a source archive of PyPI. */
export type ArchiveFormat = 'zip' | 'tgz';

/** Maximum bytes that a tarball may unpack to, including members that were not requested. */
const UNPACKED_LIMIT_BYTES = 2 ** 30;
/** Compression can enlarge a member by 5 bytes per block of 64 kB (RFC 1951), rounded up generously. */
const PACKED_OVERHEAD_BYTES = 2 ** 20;

/**
 * Reads some members of an archive into memory. Member paths are only compared, never used as file paths, so path traversal
 * is not possible. Links are not followed.
 * @param limits the requested members, each with its max. unpacked size in bytes.
 * @throws ArchiveError if a member is missing, is not a regular file or exceeds its limit, or if the archive is damaged.
 */
export async function readMembers(
  archivePath: string,
  format: ArchiveFormat,
  limits: ReadonlyMap<string, number>,
  unpackedLimitBytes = UNPACKED_LIMIT_BYTES,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const members =
    format === 'zip'
      ? await readZip(archivePath, limits)
      : await readTgz(archivePath, limits, unpackedLimitBytes);
  for (const name of limits.keys()) {
    if (!members.has(name)) throw new ArchiveError(`Missing file ${name}.`);
  }
  return members;
}

async function readZip(path: string, limits: ReadonlyMap<string, number>): Promise<Map<string, Uint8Array>> {
  const file = await open(path, 'r');
  try {
    const members = new Map<string, Uint8Array>();
    for (const member of await zipMembers(file)) {
      if (!limits.has(member.name)) continue;
      checkLimit(member.name, member.bytes, limits);
      checkLimit(member.name, member.packedBytes, limits, PACKED_OVERHEAD_BYTES);
      members.set(member.name, await readZipMember(file, member));
    }
    return members;
  } catch (error) {
    throw toArchiveError(error);
  } finally {
    await file.close();
  }
}

async function readTgz(
  path: string,
  limits: ReadonlyMap<string, number>,
  unpackedLimitBytes: number,
): Promise<Map<string, Uint8Array>> {
  const members = new Map<string, Uint8Array>();
  let failure: unknown;
  const parser = new Parser({
    strict: true,
    onReadEntry(entry: ReadEntry) {
      if (!limits.has(entry.path) || failure !== undefined) return entry.resume();
      try {
        if (entry.type !== 'File')
          throw new ArchiveError(`${entry.path} is a ${entry.type}, not a regular file.`);
        checkLimit(entry.path, entry.size, limits);
      } catch (error) {
        failure = error;
        return entry.resume();
      }
      const chunks: Uint8Array[] = [];
      entry.on('data', (chunk: Uint8Array) => void chunks.push(chunk));
      entry.on('end', () => void members.set(entry.path, Buffer.concat(chunks)));
    },
  });
  parser.on('error', (error: unknown) => {
    failure ??= error;
  });
  // Decompressed here instead of by the parser, so that members that were not requested count towards the limit.
  const gunzip = createGunzip();
  const file = createReadStream(path);
  file.on('error', (error) => gunzip.destroy(error));
  file.pipe(gunzip);
  let unpackedBytes = 0;
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      // The parser would decompress a second layer itself, bypassing the limit.
      if (unpackedBytes === 0 && isCompressed(chunk)) throw new ArchiveError('Compressed twice.');
      unpackedBytes += chunk.length;
      if (unpackedBytes > unpackedLimitBytes) {
        throw new ArchiveError(`Unpacked size exceeds ${unpackedLimitBytes} bytes.`);
      }
      parser.write(chunk);
      if (failure !== undefined) throw failure;
    }
    parser.end();
    if (failure !== undefined) throw failure;
  } catch (error) {
    throw toArchiveError(error);
  } finally {
    file.destroy();
    gunzip.destroy();
  }
  return members;
}

/** Whether the bytes start with the magic number of gzip (RFC 1952) or Zstandard (RFC 8878). */
function isCompressed(bytes: Buffer): boolean {
  return (
    (bytes.length >= 2 && bytes.readUInt16BE(0) === 0x1f8b) ||
    (bytes.length >= 4 && bytes.readUInt32BE(0) === 0x28b52ffd)
  );
}

function checkLimit(name: string, bytes: number, limits: ReadonlyMap<string, number>, tolerance = 0): void {
  const limit = (limits.get(name) ?? 0) + tolerance;
  if (bytes <= limit) return;
  throw new ArchiveError(`Unpacked size of ${name} is ${bytes} bytes; expected at most ${limit}.`);
}

function toArchiveError(error: unknown): ArchiveError {
  if (error instanceof ArchiveError) return error;
  return new ArchiveError(`Damaged archive: ${error instanceof Error ? error.message : String(error)}.`);
}
