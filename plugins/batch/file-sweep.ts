import type { BatchStore } from '../../src/contract/batch-store.ts';
import type { BlobStore } from '../../src/contract/blob-store.ts';
import type { Clock } from '../../src/contract/clock.ts';
import { ServiceError } from '../../src/contract/error.ts';
import { type FileStore, fileBlob, IDEMPOTENCY_KEY_S } from '../../src/contract/file-store.ts';
import type { Id } from '../../src/contract/id.ts';
import type { Logger } from '../../src/contract/logger.ts';
import { unixSeconds } from '../../src/kit/clock.ts';
import { openBatches } from './open-batches.ts';

const EVERY_MS = 3_600_000;
/** A blob without a record that is younger may be of an upload that goes on. */
const ORPHAN_S = 86_400;
const AT_ONCE = 500;
const FILES = 'files/';
const BATCHES = 'batches/';

export interface SweepParts {
  readonly files: FileStore;
  readonly batches: BatchStore;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Removes what nobody can reach any more, at the start and every hour: files that expired, what uploads and
 * batches left whose process died, old idempotency keys.
 */
export class FileSweep {
  readonly #parts: SweepParts;
  readonly #stopped = new AbortController();
  readonly #timer: ReturnType<typeof setInterval>;
  #sweeping: Promise<void>;

  constructor(parts: SweepParts) {
    this.#parts = parts;
    this.#sweeping = this.#sweep();
    this.#timer = setInterval(() => {
      this.#sweeping = this.#sweeping.then(() => this.#sweep());
    }, EVERY_MS);
    this.#timer.unref();
  }

  /** Resolves when nothing is swept any more. Idempotent. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopped.abort(new Error('the sweep was stopped'));
    await this.#sweeping;
  }

  async #sweep(): Promise<void> {
    const { signal } = this.#stopped;
    if (signal.aborted) return;
    const { files, blobs, clock, log } = this.#parts;
    const now = unixSeconds(clock);
    try {
      const removed = {
        expired: await this.#removeExpired(now),
        files: await this.#removeOld(FILES, now, (names) => this.#removeFilesWithoutRecord(names)),
        parts: await this.#removeOld(BATCHES, now, (names) => this.#removePartsOfEnded(names)),
        keys: await files.forgetKeys(now - IDEMPOTENCY_KEY_S),
        unfinished: await blobs.removeUnfinished(signal),
      };
      if (Object.values(removed).some((count) => count > 0)) log.info('files swept', removed);
    } catch (error) {
      if (!signal.aborted) log.error('files could not be swept', error);
    }
  }

  async #removeExpired(now: number): Promise<number> {
    const { files, blobs } = this.#parts;
    let count = 0;
    for (;;) {
      const expired = await files.expired(now, AT_ONCE);
      for (const { organization, id } of expired) {
        this.#stopped.signal.throwIfAborted();
        try {
          await files.delete(organization, id, now);
        } catch (error) {
          // A batch was made with it at the last moment.
          if (error instanceof ServiceError && error.kind === 'conflict') continue;
          throw error;
        }
        await blobs.delete(fileBlob(id));
        count += 1;
      }
      if (expired.length < AT_ONCE) return count;
    }
  }

  /** Gives `remove` old blobs, some at once; how many it removed. */
  async #removeOld(
    prefix: string,
    now: number,
    remove: (names: readonly string[]) => Promise<number>,
  ): Promise<number> {
    let count = 0;
    let names: string[] = [];
    for await (const { name, changedAt } of this.#parts.blobs.list(prefix, this.#stopped.signal)) {
      if (changedAt > now - ORPHAN_S) continue;
      names.push(name);
      if (names.length < AT_ONCE) continue;
      count += await remove(names);
      names = [];
    }
    return count + (await remove(names));
  }

  async #removeFilesWithoutRecord(names: readonly string[]): Promise<number> {
    const { files, blobs } = this.#parts;
    const idOf = (name: string) => name.slice(FILES.length) as Id<'file'>;
    const known = await files.known(names.map(idOf));
    let count = 0;
    for (const name of names) {
      if (known.has(idOf(name))) continue;
      this.#stopped.signal.throwIfAborted();
      if (await blobs.delete(name)) count += 1;
    }
    return count;
  }

  /** All of batches that have ended, of what is named `batches/<id>/…`. */
  async #removePartsOfEnded(names: readonly string[]): Promise<number> {
    if (names.length === 0) return 0;
    const { batches, blobs } = this.#parts;
    const ended = new Set(names.map((name) => name.split('/')[1] ?? ''));
    for await (const id of openBatches(batches)) ended.delete(id);
    let count = 0;
    for (const id of ended) count += await blobs.deleteAll(`${BATCHES}${id}/`, this.#stopped.signal);
    return count;
  }
}
