import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { unzipSync } from 'fflate';
import { Parser, type ReadEntry } from 'tar';

/** `zip` is a wheel of the Python index, `tgz` a tarball of npm. */
export type ArchiveFormat = 'zip' | 'tgz';

/** An archive that lacks what it should hold, or holds more than it may. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
}

/** Maximum bytes that a tarball may unpack to, including members that were not requested. */
const UNPACKED_LIMIT_BYTES = 2 ** 30;

/**
 * Reads some members of an archive into memory. A member's path is only ever compared, never used to write,
 * so absolute or climbing paths lead nowhere; links are not followed.
 * @param limits the wanted members, each with the most bytes it may unpack to.
 * @throws ArchiveError when a member is missing, is not a plain file or passes its limit, or when the
 *   archive is damaged.
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
    if (!members.has(name)) throw new ArchiveError(`It holds no file ${name}.`);
  }
  return members;
}

async function readZip(path: string, limits: ReadonlyMap<string, number>): Promise<Map<string, Uint8Array>> {
  const packed = await Bun.file(path).bytes();
  const entries = damaged(() =>
    unzipSync(packed, {
      // The declared size is also the size of the output buffer, so a lie cannot make it grow.
      filter: ({ name, originalSize }) => limits.has(name) && withinLimit(name, originalSize, limits),
    }),
  );
  const members = new Map(Object.entries(entries));
  // A stored member's length is not its declared one.
  for (const [name, bytes] of members) withinLimit(name, bytes.length, limits);
  return members;
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
          throw new ArchiveError(`${entry.path} is a ${entry.type}, not a plain file.`);
        withinLimit(entry.path, entry.size, limits);
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
  // Gunzipped here rather than by the parser, so that members that were not requested are counted too.
  const gunzip = createGunzip();
  const file = createReadStream(path);
  file.on('error', (error) => gunzip.destroy(error));
  file.pipe(gunzip);
  let unpackedBytes = 0;
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      // The parser would unpack a second layer by itself, past the limit.
      if (unpackedBytes === 0 && isCompressed(chunk)) throw new ArchiveError('It is compressed twice.');
      unpackedBytes += chunk.length;
      if (unpackedBytes > unpackedLimitBytes) {
        throw new ArchiveError(`It unpacks to more than the ${unpackedLimitBytes} bytes that are allowed.`);
      }
      parser.write(chunk);
      if (failure !== undefined) throw failure;
    }
    parser.end();
    if (failure !== undefined) throw failure;
  } catch (error) {
    throw asArchiveError(error);
  } finally {
    file.destroy();
    gunzip.destroy();
  }
  return members;
}

/** Starts like gzip (RFC 1952) or Zstandard (RFC 8878). */
function isCompressed(bytes: Buffer): boolean {
  return (
    (bytes.length >= 2 && bytes.readUInt16BE(0) === 0x1f8b) ||
    (bytes.length >= 4 && bytes.readUInt32BE(0) === 0x28b52ffd)
  );
}

function withinLimit(name: string, bytes: number, limits: ReadonlyMap<string, number>): true {
  const limit = limits.get(name) ?? 0;
  if (bytes <= limit) return true;
  throw new ArchiveError(`${name} unpacks to ${bytes} bytes, at most ${limit} are expected.`);
}

function damaged<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw asArchiveError(error);
  }
}

function asArchiveError(error: unknown): ArchiveError {
  if (error instanceof ArchiveError) return error;
  return new ArchiveError(`It is damaged: ${error instanceof Error ? error.message : String(error)}.`);
}
