import { type QueueLimits, requireQueueSlot } from './queue-slots.ts';
import { RoundRobin } from './round-robin.ts';

/** The queue limits apply to waiting callers. */
export interface FairSemaphoreLimits extends QueueLimits {
  /** Maximum number of concurrent permits. */
  readonly maxConcurrent: number;
  /** Maximum number of concurrent permits per key, so that long work of one key does not block others. */
  readonly maxConcurrentPerKey: number;
}

/** A semaphore with a queue that is served round-robin by key. */
export class FairSemaphore {
  readonly #limits: FairSemaphoreLimits;
  /** Permits held, by key. */
  readonly #permits = new Map<string, number>();
  /** Number of permits held. */
  #held = 0;
  /** Waiting callers by rank. */
  readonly #waiting = new Map<number, RoundRobin<() => void>>();

  constructor(limits: FairSemaphoreLimits) {
    this.#limits = limits;
  }

  /**
   * Waits for a permit.
   * @param key fairness key, e.g. an API key id.
   * @param rank lower ranks are served first, regardless of the key.
   * @returns a function that releases the permit; must be called once.
   * @throws ServiceError `overloaded` if too many callers wait, `rate_limited` if too many callers with this
   *   key wait; the signal's reason after an abort.
   */
  async acquire(key: string, signal: AbortSignal, rank = 0): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#canStart(key)) this.#count(key, 1);
    else await this.#wait(key, signal, rank);
    return () => {
      this.#count(key, -1);
      this.#grantNext();
    };
  }

  #canStart(key: string): boolean {
    const { maxConcurrent, maxConcurrentPerKey } = this.#limits;
    return this.#held < maxConcurrent && (this.#permits.get(key) ?? 0) < maxConcurrentPerKey;
  }

  #count(key: string, change: 1 | -1): void {
    this.#held += change;
    const count = (this.#permits.get(key) ?? 0) + change;
    if (count === 0) this.#permits.delete(key);
    else this.#permits.set(key, count);
  }

  #wait(key: string, signal: AbortSignal, rank: number): Promise<void> {
    const lines = [...this.#waiting.values()];
    const queued = lines.reduce((sum, line) => sum + line.size, 0);
    const queuedOfKey = lines.reduce((sum, line) => sum + line.sizeOf(key), 0);
    requireQueueSlot(queued, queuedOfKey, this.#limits);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const line = this.#waiting.get(rank) ?? new RoundRobin<() => void>();
    this.#waiting.set(rank, line);
    const abort = () => {
      line.delete(key, start);
      reject(signal.reason);
    };
    const start = () => {
      signal.removeEventListener('abort', abort);
      resolve();
    };
    signal.addEventListener('abort', abort, { once: true });
    line.add(key, start);
    return promise;
  }

  /** Grants a free permit to the first key that may have one. */
  #grantNext(): void {
    for (const [, line] of [...this.#waiting].sort(([a], [b]) => a - b)) {
      const next = line.peek((key) => this.#canStart(key));
      if (next === undefined) continue;
      line.delete(next.key, next.item);
      line.moveToEnd(next.key);
      this.#count(next.key, 1);
      next.item();
      return;
    }
  }
}
