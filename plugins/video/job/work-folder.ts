import { createWriteStream } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { untilAborted } from '../../../src/kit/async/until-aborted.ts';
import type { ProcessIdentity } from '../../../src/kit/process/host-id.ts';
import { isAbandoned, workFolderPrefix } from '../../../src/kit/process/work-folder.ts';
import { toDiskError } from '../../../src/kit/storage/disk-errors.ts';

const KIND = 'work';

/** Begins the names of all folders of a process. */
export const workPrefix = (of?: ProcessIdentity): string => workFolderPrefix(KIND, of);

/** Removes what processes of this place left that have ended; how many folders. */
export async function removeAbandonedWork(parent: string): Promise<number> {
  let count = 0;
  for (const name of await readdir(parent)) {
    if (!isAbandoned(KIND, name)) continue;
    await rm(join(parent, name), { recursive: true, force: true });
    count += 1;
  }
  return count;
}

/** A clip on this machine's disk, for as long as its folder is held. */
export class StagedClip {
  readonly path: string;
  readonly lengthBytes: number;

  constructor(path: string, lengthBytes: number) {
    this.path = path;
    this.lengthBytes = lengthBytes;
  }
}

/** Where one request or one run keeps its files, for this user alone. Its owner releases it. */
export class WorkFolder {
  readonly #path: string;

  private constructor(path: string) {
    this.#path = path;
  }

  /** @throws ServiceError `overloaded` when the disk has no room. */
  static async open(parent: string): Promise<WorkFolder> {
    try {
      return new WorkFolder(await mkdtemp(join(parent, workPrefix())));
    } catch (error) {
      throw toDiskError(error);
    }
  }

  /** The path of a file in it. */
  file(name: string): string {
    return join(this.#path, name);
  }

  /**
   * Writes a file as fast as bytes come.
   * @throws ServiceError `overloaded` when the disk has no room; what `bytes` throws; the signal's reason after an abort.
   */
  async write(name: string, bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<StagedClip> {
    const path = this.file(name);
    const file = createWriteStream(path, { flags: 'wx', mode: 0o600 });
    try {
      // A source that says nothing more would be waited for, though nobody wants it.
      await pipeline(Readable.from(untilAborted(bytes, signal)), file, { signal });
    } catch (error) {
      signal.throwIfAborted();
      throw toDiskError(error);
    }
    return new StagedClip(path, file.bytesWritten);
  }

  /** Removes all of it. Idempotent. */
  release(): Promise<void> {
    return rm(this.#path, { recursive: true, force: true });
  }
}
