import { ServiceError } from '../../contract/core/error.ts';

const RETRY_AFTER_S = 2;

export interface FairSemaphoreLimits {
  /** How many may work at once. */
  readonly maxConcurrent: number;
  /** How many of them may be of one owner, so that others need not wait for the end of long work. */
  readonly maxConcurrentPerKey: number;
  /** How many may wait; one more is refused. */
  readonly maxQueued: number;
  /** How many of them may be of one owner, so that nobody takes the room of the others; default: all. */
  readonly maxQueuedPerKey?: number;
}

/** Lets so many work at once; the others wait, and their owners take turns, however much one of them asks for. */
export class FairSemaphore {
  readonly #limits: FairSemaphoreLimits;
  /** Turns that each owner has. */
  readonly #working = new Map<string, number>();
  /** Who waits, by rank: first come first, by owner; the owner whose turn is next comes first. */
  readonly #waiting = new Map<number, Map<string, (() => void)[]>>();

  constructor(limits: FairSemaphoreLimits) {
    this.#limits = limits;
  }

  /**
   * Waits for a turn and resolves with what ends it, which must be called once.
   * @param rank of those who wait, a lower one comes first, whoever its owner is.
   * @throws ServiceError `overloaded` when too many wait, `rate_limited` when too many of the owner do; the signal's
   *   reason after an abort.
   */
  async acquire(owner: string, signal: AbortSignal, rank = 0): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#mayBegin(owner)) this.#count(owner, 1);
    else await this.#wait(owner, signal, rank);
    return () => {
      this.#count(owner, -1);
      this.#next();
    };
  }

  #mayBegin(owner: string): boolean {
    const { maxConcurrent: atOnce, maxConcurrentPerKey: ofOneOwner } = this.#limits;
    const all = this.#working.values().reduce((sum, count) => sum + count, 0);
    return all < atOnce && (this.#working.get(owner) ?? 0) < ofOneOwner;
  }

  #count(owner: string, change: 1 | -1): void {
    const count = (this.#working.get(owner) ?? 0) + change;
    if (count === 0) this.#working.delete(owner);
    else this.#working.set(owner, count);
  }

  #wait(owner: string, signal: AbortSignal, rank: number): Promise<void> {
    const { maxQueuedPerKey: share = Number.POSITIVE_INFINITY } = this.#limits;
    const own = this.#waiting.values().reduce((sum, line) => sum + (line.get(owner)?.length ?? 0), 0);
    if (own >= share) {
      throw new ServiceError(
        'rate_limited',
        `${share} requests of this kind wait for your API key, which is its share. Try again when one has ended.`,
        { code: 'rate_limit_exceeded', retryAfterS: RETRY_AFTER_S },
      );
    }
    const queues = [...this.#waiting.values()].flatMap((line) => [...line.values()]);
    if (queues.reduce((sum, queue) => sum + queue.length, 0) >= this.#limits.maxQueued) {
      throw new ServiceError('overloaded', 'The server has too much to do. Try again shortly.', {
        code: 'server_overloaded',
        retryAfterS: RETRY_AFTER_S,
      });
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const line = this.#waiting.get(rank) ?? new Map<string, (() => void)[]>();
    this.#waiting.set(rank, line);
    const leave = () => {
      forget(line, owner, begin);
      reject(signal.reason);
    };
    const begin = () => {
      signal.removeEventListener('abort', leave);
      resolve();
    };
    signal.addEventListener('abort', leave, { once: true });
    line.set(owner, [...(line.get(owner) ?? []), begin]);
    return promise;
  }

  /** Gives a free turn to the first of the owners that may have one, who is then last in line. */
  #next(): void {
    for (const [, line] of [...this.#waiting].sort(([a], [b]) => a - b)) {
      for (const [owner, [begin]] of line) {
        if (begin === undefined || !this.#mayBegin(owner)) continue;
        const rest = forget(line, owner, begin);
        line.delete(owner);
        if (rest.length > 0) line.set(owner, rest);
        this.#count(owner, 1);
        begin();
        return;
      }
    }
  }
}

function forget(line: Map<string, (() => void)[]>, owner: string, begin: () => void): (() => void)[] {
  const rest = (line.get(owner) ?? []).filter((other) => other !== begin);
  if (rest.length > 0) line.set(owner, rest);
  else line.delete(owner);
  return rest;
}
