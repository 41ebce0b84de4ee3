import type { BatchStore } from '../../src/contract/batch-store.ts';
import type { BlobStore } from '../../src/contract/blob-store.ts';
import type { Clock } from '../../src/contract/clock.ts';
import { ServiceError } from '../../src/contract/error.ts';
import { type FileStore, fileBlob, IDEMPOTENCY_KEY_S } from '../../src/contract/file-store.ts';
import type { Id } from '../../src/contract/id.ts';
import type { Logger } from '../../src/contract/logger.ts';
import { unixSeconds } from '../../src/kit/clock.ts';

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
 * Removes what nobody can reach any more, at the start and every hour: files that expired, blobs of uploads and of
 * batches whose process died, old idempotency keys.
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
    const { files, clock, log } = this.#parts;
    const now = unixSeconds(clock);
    try {
      const removed = {
        expired: await this.#removeExpired(now),
        files: await this.#removeOrphans(FILES, now, (names) => this.#filesWithoutRecord(names)),
        parts: await this.#removeOrphans(BATCHES, now, (names) => this.#partsOfEndedBatches(names)),
        keys: await files.forgetKeys(now - IDEMPOTENCY_KEY_S),
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

  /** Deletes old blobs that `orphansOf` picks, some at once. */
  async #removeOrphans(
    prefix: string,
    now: number,
    orphansOf: (names: readonly string[]) => Promise<readonly string[]>,
  ): Promise<number> {
    const { blobs } = this.#parts;
    const { signal } = this.#stopped;
    let count = 0;
    let names: string[] = [];
    const remove = async () => {
      for (const name of await orphansOf(names)) {
        signal.throwIfAborted();
        if (await blobs.delete(name)) count += 1;
      }
      names = [];
    };
    for await (const { name, changedAt } of blobs.list(prefix, signal)) {
      if (changedAt > now - ORPHAN_S) continue;
      names.push(name);
      if (names.length === AT_ONCE) await remove();
    }
    await remove();
    return count;
  }

  async #filesWithoutRecord(names: readonly string[]): Promise<readonly string[]> {
    const idOf = (name: string) => name.slice(FILES.length) as Id<'file'>;
    const known = await this.#parts.files.known(names.map(idOf));
    return names.filter((name) => !known.has(idOf(name)));
  }

  /** Of what is named `batches/<id>/…`. */
  async #partsOfEndedBatches(names: readonly string[]): Promise<readonly string[]> {
    if (names.length === 0) return [];
    const open = await this.#openBatches();
    return names.filter((name) => !open.has(name.split('/')[1] ?? ''));
  }

  async #openBatches(): Promise<ReadonlySet<string>> {
    const { batches } = this.#parts;
    const open = new Set<string>();
    let after: Id<'batch'> | undefined;
    for (;;) {
      const page = await batches.open(AT_ONCE, after);
      for (const id of page) open.add(id);
      after = page.at(-1);
      if (page.length < AT_ONCE) return open;
    }
  }
}
