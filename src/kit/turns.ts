import { ServiceError } from '../contract/error.ts';

const RETRY_AFTER_S = 2;

export interface TurnLimits {
  /** How many may work at once. */
  readonly atOnce: number;
  /** How many of them may be of one owner, so that others need not wait for the end of long work. */
  readonly ofOneOwner: number;
  /** How many may wait; one more is refused. */
  readonly waiting: number;
}

/** Lets so many work at once; the others wait, and their owners take turns, however much one of them asks for. */
export class Turns {
  readonly #limits: TurnLimits;
  /** Turns that each owner has. */
  readonly #working = new Map<string, number>();
  /** Who waits, first come first, by owner; the owner whose turn is next comes first. */
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /**
   * Waits for a turn and resolves with what ends it, which must be called once.
   * @throws ServiceError `overloaded` when too many wait; the signal's reason after an abort.
   */
  async take(owner: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#mayBegin(owner)) this.#count(owner, 1);
    else await this.#wait(owner, signal);
    return () => {
      this.#count(owner, -1);
      this.#next();
    };
  }

  #mayBegin(owner: string): boolean {
    const { atOnce, ofOneOwner } = this.#limits;
    const all = this.#working.values().reduce((sum, count) => sum + count, 0);
    return all < atOnce && (this.#working.get(owner) ?? 0) < ofOneOwner;
  }

  #count(owner: string, change: 1 | -1): void {
    const count = (this.#working.get(owner) ?? 0) + change;
    if (count === 0) this.#working.delete(owner);
    else this.#working.set(owner, count);
  }

  #wait(owner: string, signal: AbortSignal): Promise<void> {
    const waiting = this.#waiting.values().reduce((sum, queue) => sum + queue.length, 0);
    if (waiting >= this.#limits.waiting) {
      throw new ServiceError('overloaded', 'The server has too much to do. Try again shortly.', {
        code: 'server_overloaded',
        retryAfterS: RETRY_AFTER_S,
      });
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = () => {
      this.#forget(owner, begin);
      reject(signal.reason);
    };
    const begin = () => {
      signal.removeEventListener('abort', leave);
      resolve();
    };
    signal.addEventListener('abort', leave, { once: true });
    this.#waiting.set(owner, [...(this.#waiting.get(owner) ?? []), begin]);
    return promise;
  }

  /** Gives a free turn to the first of the owners that may have one, who is then last in line. */
  #next(): void {
    for (const [owner, [begin]] of this.#waiting) {
      if (begin === undefined || !this.#mayBegin(owner)) continue;
      const rest = this.#forget(owner, begin);
      this.#waiting.delete(owner);
      if (rest.length > 0) this.#waiting.set(owner, rest);
      this.#count(owner, 1);
      begin();
      return;
    }
  }

  #forget(owner: string, begin: () => void): (() => void)[] {
    const rest = (this.#waiting.get(owner) ?? []).filter((other) => other !== begin);
    if (rest.length > 0) this.#waiting.set(owner, rest);
    else this.#waiting.delete(owner);
    return rest;
  }
}
