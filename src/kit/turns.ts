import { ServiceError } from '../contract/error.ts';

const RETRY_AFTER_S = 2;

/** Lets so many work at once, and the others wait in the order in which they came. */
export class Turns {
  readonly #waitingLimit: number;
  #free: number;
  readonly #waiting: (() => void)[] = [];

  /**
   * @param atOnce how many may work.
   * @param waitingLimit how many may wait; one more is refused.
   */
  constructor(atOnce: number, waitingLimit: number) {
    this.#free = atOnce;
    this.#waitingLimit = waitingLimit;
  }

  /**
   * Waits for a turn and resolves with what ends it, which must be called once.
   * @throws ServiceError `overloaded` when too many wait; the signal's reason after an abort.
   */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#wait(signal);
    return () => this.#next();
  }

  #wait(signal: AbortSignal): Promise<void> {
    if (this.#waiting.length >= this.#waitingLimit) {
      throw new ServiceError('overloaded', 'The server has too much to do. Try again shortly.', {
        code: 'server_overloaded',
        retryAfterS: RETRY_AFTER_S,
      });
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = () => {
      this.#waiting.splice(this.#waiting.indexOf(begin), 1);
      reject(signal.reason);
    };
    const begin = () => {
      signal.removeEventListener('abort', leave);
      resolve();
    };
    signal.addEventListener('abort', leave, { once: true });
    this.#waiting.push(begin);
    return promise;
  }

  #next(): void {
    const begin = this.#waiting.shift();
    if (begin === undefined) this.#free += 1;
    else begin();
  }
}
