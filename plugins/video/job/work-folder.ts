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

/** Common prefix of all work folders of a process. */
export const workPrefix = (of?: ProcessIdentity): string => workFolderPrefix(KIND, of);

/** Deletes folders of exited processes of this host. Returns their number. */
export async function removeAbandonedWork(parent: string): Promise<number> {
  let count = 0;
  for (const name of await readdir(parent)) {
    if (!isAbandoned(KIND, name)) continue;
    await rm(join(parent, name), { recursive: true, force: true });
    count += 1;
  }
  return count;
}

/** A clip on the local disk. Valid until its folder is released. */
export class StagedClip {
  readonly path: string;
  readonly lengthBytes: number;

  constructor(path: string, lengthBytes: number) {
    this.path = path;
    this.lengthBytes = lengthBytes;
  }
}

/** A private folder (mode 0700) for the files of one request or run. The creator must release it. */
export class WorkFolder {
  readonly #path: string;

  private constructor(path: string) {
    this.#path = path;
  }

  /** @throws ServiceError `overloaded` if the disk is full. */
  static async open(parent: string): Promise<WorkFolder> {
    try {
      return new WorkFolder(await mkdtemp(join(parent, workPrefix())));
    } catch (error) {
      throw toDiskError(error);
    }
  }

  /** Path of a file in the folder. */
  file(name: string): string {
    return join(this.#path, name);
  }

  /**
   * Writes a file as the bytes arrive.
   * @throws ServiceError `overloaded` if the disk is full; the errors of `bytes`; the reason of the signal.
   */
  async write(name: string, bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<StagedClip> {
    const path = this.file(name);
    const file = createWriteStream(path, { flags: 'wx', mode: 0o600 });
    try {
      // `untilAborted`, because `pipeline` would wait for a stalled source even after an abort.
      await pipeline(Readable.from(untilAborted(bytes, signal)), file, { signal });
    } catch (error) {
      signal.throwIfAborted();
      throw toDiskError(error);
    }
    return new StagedClip(path, file.bytesWritten);
  }

  /** Deletes the folder. Idempotent. */
  release(): Promise<void> {
    return rm(this.#path, { recursive: true, force: true });
  }
}
