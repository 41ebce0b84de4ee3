import { ServiceError } from '../../contract/core/error.ts';

const RETRY_AFTER_S = 2;

export interface FairSemaphoreLimits {
  /** Maximum number of concurrent permits. */
  readonly maxConcurrent: number;
  /** Maximum number of concurrent permits per key, so that long work of one key does not block others. */
  readonly maxConcurrentPerKey: number;
  /** Maximum number of waiting callers; further ones are rejected. */
  readonly maxQueued: number;
  /** Maximum number of waiting callers per key; default: `maxQueued`. */
  readonly maxQueuedPerKey?: number;
}

/** A semaphore with a queue that is served round-robin by key. */
export class FairSemaphore {
  readonly #limits: FairSemaphoreLimits;
  /** Permits held, by key. */
  readonly #permits = new Map<string, number>();
  /** Waiting callers by rank and key. The key that is served next is first; each key has a FIFO queue. */
  readonly #waiting = new Map<number, Map<string, (() => void)[]>>();

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
    const all = this.#permits.values().reduce((sum, count) => sum + count, 0);
    return all < maxConcurrent && (this.#permits.get(key) ?? 0) < maxConcurrentPerKey;
  }

  #count(key: string, change: 1 | -1): void {
    const count = (this.#permits.get(key) ?? 0) + change;
    if (count === 0) this.#permits.delete(key);
    else this.#permits.set(key, count);
  }

  #wait(key: string, signal: AbortSignal, rank: number): Promise<void> {
    const { maxQueuedPerKey = Number.POSITIVE_INFINITY } = this.#limits;
    const own = this.#waiting.values().reduce((sum, line) => sum + (line.get(key)?.length ?? 0), 0);
    if (own >= maxQueuedPerKey) {
      throw new ServiceError(
        'rate_limited',
        `Queue limit per API key reached (${maxQueuedPerKey}). Retry when a request finishes.`,
        { code: 'rate_limit_exceeded', retryAfterS: RETRY_AFTER_S },
      );
    }
    const queues = [...this.#waiting.values()].flatMap((line) => [...line.values()]);
    if (queues.reduce((sum, queue) => sum + queue.length, 0) >= this.#limits.maxQueued) {
      throw new ServiceError('overloaded', 'Server overloaded. Retry later.', {
        code: 'server_overloaded',
        retryAfterS: RETRY_AFTER_S,
      });
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const line = this.#waiting.get(rank) ?? new Map<string, (() => void)[]>();
    this.#waiting.set(rank, line);
    const abort = () => {
      removeWaiter(line, key, start);
      reject(signal.reason);
    };
    const start = () => {
      signal.removeEventListener('abort', abort);
      resolve();
    };
    signal.addEventListener('abort', abort, { once: true });
    line.set(key, [...(line.get(key) ?? []), start]);
    return promise;
  }

  /** Grants a free permit to the first key that may have one, and moves that key to the end of the queue. */
  #grantNext(): void {
    for (const [, line] of [...this.#waiting].sort(([a], [b]) => a - b)) {
      for (const [key, [start]] of line) {
        if (start === undefined || !this.#canStart(key)) continue;
        const rest = removeWaiter(line, key, start);
        line.delete(key);
        if (rest.length > 0) line.set(key, rest);
        this.#count(key, 1);
        start();
        return;
      }
    }
  }
}

function removeWaiter(line: Map<string, (() => void)[]>, key: string, start: () => void): (() => void)[] {
  const rest = (line.get(key) ?? []).filter((other) => other !== start);
  if (rest.length > 0) line.set(key, rest);
  else line.delete(key);
  return rest;
}
