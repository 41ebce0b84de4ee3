import { type FileHandle, mkdir, open, readdir, rename, rm, rmdir, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../contract/core/clock.ts';
import type { BlobFile, BlobStore, ByteRange } from '../contract/stores/blob-store.ts';
import { untilAborted } from '../kit/async/until-aborted.ts';
import { hasExited, hostId, type ProcessIdentity } from '../kit/process/host-id.ts';
import { toDiskError } from '../kit/storage/disk-errors.ts';
import { checkBlobName, checkBlobPrefix } from './blob-name.ts';

/** Folder of unfinished blobs. Blob names cannot contain `~`. */
const UNFINISHED = '~unfinished';
const NEVER_ABORTED = new AbortController().signal;
/** Older unfinished files are abandoned, even if their writer ran on another host: no upload stalls for this long. */
const ABANDONED_MS = 6 * 3_600_000;
/** Identity of this process. All stores of the process share it, so that they recognize each other's unfinished files. */
const SELF: ProcessIdentity = {
  hostId: shortHash(hostId()),
  pid: process.pid,
  instance: shortHash(crypto.randomUUID()),
};
/** Maximum number of attempts if the target folder is deleted between its creation and its use. */
const MAX_FOLDER_ATTEMPTS = 5;

/**
 * Blobs as files in a folder. A blob is written to a temporary file, synced and then renamed, so that it is stored
 * completely or not at all after a power failure. Several processes of one host can share the folder.
 * @param folder is created for the current user if it does not exist; unfinished files of crashed writers are removed.
 * @param clock is compared with file modification times.
 * @param failed is called with the error of each write that the file system rejects.
 */
export async function openDiskBlobs(
  folder: string,
  clock: Clock,
  failed: (error: unknown) => void = () => undefined,
): Promise<BlobStore> {
  const unfinished = join(folder, UNFINISHED);
  await mkdir(unfinished, { recursive: true, mode: 0o700 });
  const blobs = new DiskBlobs(folder, unfinished, clock, failed);
  await blobs.removeUnfinished(NEVER_ABORTED);
  return blobs;
}

class DiskBlobs implements BlobStore {
  readonly #folder: string;
  readonly #unfinished: string;
  readonly #clock: Clock;
  readonly #failed: (error: unknown) => void;

  constructor(folder: string, unfinished: string, clock: Clock, failed: (error: unknown) => void) {
    this.#folder = folder;
    this.#unfinished = unfinished;
    this.#clock = clock;
    this.#failed = failed;
  }

  async write(name: string, bytes: AsyncIterable<Uint8Array>, signal: AbortSignal) {
    const path = this.#pathOf(name);
    const unfinished = join(this.#unfinished, unfinishedFileName());
    try {
      const facts = await writeSynced(unfinished, untilAborted(bytes, signal));
      signal.throwIfAborted();
      await moveDurably(unfinished, path);
      return facts;
    } catch (error) {
      await rm(unfinished, { force: true });
      // Errors of the source, such as an interrupted upload, are not errors of the store.
      if (isFileSystemError(error)) this.#failed(error);
      throw toDiskError(error);
    }
  }

  async read(name: string, signal: AbortSignal, range?: ByteRange) {
    const path = this.#pathOf(name);
    signal.throwIfAborted();
    const found = await undefinedIfMissing(stat(path));
    return found?.isFile() ? chunksOf(path, signal, range) : undefined;
  }

  async openFile(name: string): Promise<BlobFile | undefined> {
    const path = this.#pathOf(name);
    const file = await undefinedIfMissing(open(path, 'r'));
    if (file === undefined || (await file.stat()).isFile()) return file;
    await file.close();
    return undefined;
  }

  async delete(name: string): Promise<boolean> {
    const path = this.#pathOf(name);
    return (await undefinedIfMissing(unlink(path).then(() => true))) ?? false;
  }

  async deleteAll(prefix: string, signal: AbortSignal): Promise<number> {
    let count = 0;
    // `list` does not return empty folders.
    const folders = new Set(prefix.endsWith('/') ? [prefix.slice(0, -1)] : []);
    for await (const { name } of this.list(prefix, signal)) {
      if (await this.delete(name)) count += 1;
      for (let at = dirname(name); at.startsWith(prefix) || `${at}/` === prefix; at = dirname(at)) {
        folders.add(at);
      }
    }
    // Deepest first. A folder that receives a new blob concurrently is not empty and remains.
    for (const name of [...folders].sort((a, b) => b.length - a.length)) {
      await rmdir(join(this.#folder, name)).catch(() => undefined);
    }
    return count;
  }

  list(prefix: string, signal: AbortSignal) {
    checkBlobPrefix(prefix);
    const folder = prefix.endsWith('/') ? prefix.slice(0, -1) : dirname(prefix);
    return this.#walk(folder === '.' ? '' : folder, prefix, signal);
  }

  async removeUnfinished(signal: AbortSignal): Promise<number> {
    const oldest = this.#clock.now() - ABANDONED_MS;
    let count = 0;
    for (const name of await readdir(this.#unfinished)) {
      signal.throwIfAborted();
      const path = join(this.#unfinished, name);
      const found = await undefinedIfMissing(stat(path));
      if (found === undefined || (!hasExited(writerOf(name), SELF) && found.mtimeMs >= oldest)) continue;
      await rm(path, { force: true });
      count += 1;
    }
    return count;
  }

  async close(): Promise<void> {
    // Files are open only while they are read or written.
  }

  async *#walk(
    folder: string,
    prefix: string,
    signal: AbortSignal,
  ): AsyncGenerator<{ name: string; changedAt: number }, void, undefined> {
    signal.throwIfAborted();
    const entries = await undefinedIfMissing(readdir(join(this.#folder, folder), { withFileTypes: true }));
    for (const entry of entries ?? []) {
      signal.throwIfAborted();
      const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (entry.name !== UNFINISHED && (name.startsWith(prefix) || prefix.startsWith(`${name}/`))) {
          yield* this.#walk(name, prefix, signal);
        }
      } else if (name.startsWith(prefix)) {
        const found = await undefinedIfMissing(stat(join(this.#folder, name)));
        if (found) yield { name, changedAt: Math.floor(found.mtimeMs / 1000) };
      }
    }
  }

  #pathOf(name: string): string {
    checkBlobName(name);
    return join(this.#folder, name);
  }
}

/** Creates a file that only the current user can access and syncs it to the disk. */
async function writeSynced(path: string, bytes: AsyncIterable<Uint8Array>) {
  const hash = new Bun.CryptoHasher('sha256');
  let lengthBytes = 0;
  const file = await open(path, 'wx', 0o600);
  try {
    for await (const chunk of bytes) {
      hash.update(chunk);
      await writeWhole(file, chunk);
      lengthBytes += chunk.length;
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return { lengthBytes, sha256: hash.digest('hex') };
}

async function writeWhole(file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let rest = chunk; rest.length > 0; ) {
    const { bytesWritten } = await file.write(rest);
    rest = rest.subarray(bytesWritten);
  }
}

/** Moves a file, creates the target folder if necessary, and syncs the changed folders. */
async function moveDurably(from: string, to: string): Promise<void> {
  const folder = dirname(to);
  /** The highest folder whose entries changed. */
  let changed = folder;
  for (let tries = 1; ; tries += 1) {
    try {
      const created = await mkdir(folder, { recursive: true, mode: 0o700 });
      if (created !== undefined && dirname(created).length < changed.length) changed = dirname(created);
      await rename(from, to);
      break;
    } catch (error) {
      // A concurrent `deleteAll` can remove the empty folder. `mkdir` throws EEXIST if it is removed within the call.
      const isRemoved = isMissing(error) || codeOf(error) === 'EEXIST';
      if (!isRemoved || tries === MAX_FOLDER_ATTEMPTS) throw error;
    }
  }
  // A folder that is missing here was removed after its blobs were deleted.
  for (let at = folder; at.length >= changed.length; at = dirname(at))
    await undefinedIfMissing(syncFolder(at));
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/**
 * Streams a file. The file is opened when the first chunk is read, so an unread generator holds no descriptor. It uses Bun's
 * stream, which closes its file when it is garbage-collected; an open `FileHandle` that is garbage-collected would crash the
 * process.
 */
async function* chunksOf(
  path: string,
  signal: AbortSignal,
  range?: ByteRange,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  signal.throwIfAborted();
  const file = range === undefined ? Bun.file(path) : Bun.file(path).slice(range.start, range.end);
  for await (const chunk of file.stream()) {
    signal.throwIfAborted();
    yield chunk;
  }
}

/** A unique name that contains the identity of the writer. */
function unfinishedFileName(): string {
  return [SELF.hostId, SELF.pid, SELF.instance, crypto.randomUUID()].join('-');
}

function writerOf(name: string): ProcessIdentity {
  const [hostIdPart = '', pid, instance = ''] = name.split('-');
  return { hostId: hostIdPart, pid: Number(pid), instance };
}

/** A short hash that is valid in a file name. */
function shortHash(text: string): string {
  return new Bun.CryptoHasher('sha256').update(text).digest('hex').slice(0, 16);
}

async function undefinedIfMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

function isFileSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
