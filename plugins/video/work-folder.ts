import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { diskFailure } from '../../src/kit/disk-failure.ts';

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
      return new WorkFolder(await mkdtemp(join(parent, 'work-')));
    } catch (error) {
      throw diskFailure(error);
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
      await pipeline(Readable.from(bytes), file, { signal });
    } catch (error) {
      signal.throwIfAborted();
      throw diskFailure(error);
    }
    return new StagedClip(path, file.bytesWritten);
  }

  /** Removes all of it. Idempotent. */
  release(): Promise<void> {
    return rm(this.#path, { recursive: true, force: true });
  }
}
