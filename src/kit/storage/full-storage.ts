import { statfs } from 'node:fs/promises';
import type { Clock } from '../../contract/core/clock.ts';
import type { StorageHealth, StoragePlace } from '../../contract/stores/storage-health.ts';
import { IntervalTask } from '../async/interval-task.ts';
import { isStorageFull, STORAGE_FULL_RETRY_S } from './disk-errors.ts';

/** A disk with less free space counts as full, because SQLite cannot extend its log in steps of less than that. */
const MIN_FREE_BYTES = 1 << 20;
const CHECK_INTERVAL_MS = 1000;

export interface FullStorageOptions {
  /** Stores on the disk of DATA_DIR. */
  readonly local: ReadonlySet<StoragePlace>;
  readonly clock: Clock;
  /** Free bytes of the disk of DATA_DIR for this user; undefined if unknown. */
  readonly readFreeBytes: () => Promise<number | undefined>;
}

/**
 * Knows which stores are full. A local store is full while its disk has no free space. Any store is full for
 * {@link STORAGE_FULL_RETRY_S} after an operation failed for that reason: a quota and a server do not report their free space.
 */
export class FullStorage implements StorageHealth {
  readonly #options: FullStorageOptions;
  readonly #failedMs = new Map<StoragePlace, number>();
  readonly #checks: IntervalTask;
  #freeBytes: number | undefined;

  constructor(options: FullStorageOptions) {
    this.#options = options;
    this.#checks = new IntervalTask({ runTask: () => this.check(), intervalMs: CHECK_INTERVAL_MS });
  }

  /** Free bytes of the disk of DATA_DIR at the last check; undefined if unknown. */
  get freeBytes(): number | undefined {
    return this.#freeBytes;
  }

  /** Reads the free space of the disk. Never rejects. */
  async check(): Promise<void> {
    this.#freeBytes = await this.#options.readFreeBytes();
  }

  /** Records an error of a store; ignores errors with another reason. */
  recordFailure(place: StoragePlace, error: unknown): void {
    if (isStorageFull(error)) this.#failedMs.set(place, this.#options.clock.monotonicMs());
  }

  isFull(place: StoragePlace): boolean {
    const { local, clock } = this.#options;
    if (local.has(place) && this.#freeBytes !== undefined && this.#freeBytes < MIN_FREE_BYTES) return true;
    const failedMs = this.#failedMs.get(place);
    return failedMs !== undefined && clock.monotonicMs() - failedMs < STORAGE_FULL_RETRY_S * 1000;
  }

  /** Stops the checks. Idempotent. */
  close(): Promise<void> {
    return this.#checks.close();
  }
}

/** Free bytes of the disk of a folder for this user; undefined if the folder does not exist. */
export async function freeBytesOf(folder: string): Promise<number | undefined> {
  const found = await statfs(folder).catch(() => undefined);
  return found && found.bavail * found.bsize;
}
