import { type FileHandle, mkdir, open, readdir, rename, rm, rmdir, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../contract/core/clock.ts';
import type { BlobFile, BlobStore, ByteRange } from '../contract/stores/blob-store.ts';
import { untilAborted } from '../kit/async/until-aborted.ts';
import { hasExited, type ProcessIdentity, hostId } from '../kit/process/host-id.ts';
import { toDiskError } from '../kit/storage/disk-errors.ts';
import { checkBlobName, checkBlobPrefix } from './blob-name.ts';

/** Where blobs lie that are being written; `~` is in no blob's name. */
const UNFINISHED = '~unfinished';
const NEVER = new AbortController().signal;
/** A file there that is older has lost its writer, wherever that ran: no upload waits so long for its next byte. */
const ABANDONED_MS = 6 * 3_600_000;
/** This process. One instance for all stores of it, so that none takes another's writers for dead. */
const SELF: ProcessIdentity = {
  hostId: shortHash(hostId()),
  pid: process.pid,
  instance: shortHash(crypto.randomUUID()),
};
/** How often a folder may vanish between its making and its use. */
const FOLDER_TRIES = 5;

/**
 * Blobs in files of one folder. A blob is written beside the others, synced and then renamed, so that a power cut
 * leaves it whole or not at all. Several processes of one machine may share the folder.
 * @param folder made for this user alone when absent; what dead writers left in it is removed.
 * @param clock compared with the times of files.
 */
export async function openDiskBlobs(folder: string, clock: Clock): Promise<BlobStore> {
  const unfinished = join(folder, UNFINISHED);
  await mkdir(unfinished, { recursive: true, mode: 0o700 });
  const blobs = new DiskBlobs(folder, unfinished, clock);
  await blobs.removeUnfinished(NEVER);
  return blobs;
}

class DiskBlobs implements BlobStore {
  readonly #folder: string;
  readonly #unfinished: string;
  readonly #clock: Clock;

  constructor(folder: string, unfinished: string, clock: Clock) {
    this.#folder = folder;
    this.#unfinished = unfinished;
    this.#clock = clock;
  }

  async write(name: string, bytes: AsyncIterable<Uint8Array>, signal: AbortSignal) {
    const path = this.#pathOf(name);
    const unfinished = join(this.#unfinished, unfinishedName());
    try {
      const facts = await writeSynced(unfinished, untilAborted(bytes, signal));
      signal.throwIfAborted();
      await moveDurably(unfinished, path);
      return facts;
    } catch (error) {
      await rm(unfinished, { force: true });
      throw toDiskError(error);
    }
  }

  async read(name: string, signal: AbortSignal, range?: ByteRange) {
    const path = this.#pathOf(name);
    signal.throwIfAborted();
    const found = await unlessMissing(stat(path));
    return found?.isFile() ? chunksOf(path, signal, range) : undefined;
  }

  async openFile(name: string): Promise<BlobFile | undefined> {
    const path = this.#pathOf(name);
    const file = await unlessMissing(open(path, 'r'));
    if (file === undefined || (await file.stat()).isFile()) return file;
    await file.close();
    return undefined;
  }

  async delete(name: string): Promise<boolean> {
    const path = this.#pathOf(name);
    return (await unlessMissing(unlink(path).then(() => true))) ?? false;
  }

  async deleteAll(prefix: string, signal: AbortSignal): Promise<number> {
    let count = 0;
    // An empty one is listed by nobody.
    const folders = new Set(prefix.endsWith('/') ? [prefix.slice(0, -1)] : []);
    for await (const { name } of this.list(prefix, signal)) {
      if (await this.delete(name)) count += 1;
      for (let at = dirname(name); at.startsWith(prefix) || `${at}/` === prefix; at = dirname(at)) {
        folders.add(at);
      }
    }
    // The deepest first; one that somebody writes to meanwhile is not empty and stays.
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
      const found = await unlessMissing(stat(path));
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
    const entries = await unlessMissing(readdir(join(this.#folder, folder), { withFileTypes: true }));
    for (const entry of entries ?? []) {
      signal.throwIfAborted();
      const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (entry.name !== UNFINISHED && (name.startsWith(prefix) || prefix.startsWith(`${name}/`))) {
          yield* this.#walk(name, prefix, signal);
        }
      } else if (name.startsWith(prefix)) {
        const found = await unlessMissing(stat(join(this.#folder, name)));
        if (found) yield { name, changedAt: Math.floor(found.mtimeMs / 1000) };
      }
    }
  }

  #pathOf(name: string): string {
    checkBlobName(name);
    return join(this.#folder, name);
  }
}

/** A new file for this user alone, whose bytes are on the disk when this resolves. */
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

/** Moves a file into a folder that is made when needed, so that a power cut does not undo it. */
async function moveDurably(from: string, to: string): Promise<void> {
  const folder = dirname(to);
  /** The highest folder whose entries changed. */
  let changed = folder;
  for (let tries = 1; ; tries += 1) {
    const made = await mkdir(folder, { recursive: true, mode: 0o700 });
    if (made !== undefined && dirname(made).length < changed.length) changed = dirname(made);
    try {
      await rename(from, to);
      break;
    } catch (error) {
      // Somebody who deletes all of a folder removes the empty folder too.
      if (!isMissing(error) || tries === FOLDER_TRIES) throw error;
    }
  }
  for (let at = folder; at.length >= changed.length; at = dirname(at)) await syncFolder(at);
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
 * Opened with the first chunk that is asked for, so that who never asks holds nothing. The runtime's own stream,
 * because it closes its file when somebody forgets it half-way; an open `FileHandle` that is forgotten ends the process.
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

/** A name that nobody used, which tells its writer. */
function unfinishedName(): string {
  return [SELF.hostId, SELF.pid, SELF.instance, crypto.randomUUID()].join('-');
}

function writerOf(name: string): ProcessIdentity {
  const [place = '', pid, instance = ''] = name.split('-');
  return { hostId: place, pid: Number(pid), instance };
}

/** As a part of a file's name may be. */
function shortHash(text: string): string {
  return new Bun.CryptoHasher('sha256').update(text).digest('hex').slice(0, 16);
}

async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}
