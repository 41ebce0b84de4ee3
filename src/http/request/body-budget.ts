import { ServiceError } from '../../contract/core/error.ts';

export interface BodyBudgetLimits {
  /** Maximum bytes of all bodies of one API key. */
  readonly bytesPerKey: number;
  /** Maximum bytes of all bodies. */
  readonly totalBytes: number;
}

const RETRY_AFTER_S = 1;

/** Limits the memory of request bodies that are being received, so that slow senders cannot use all of it. */
export class BodyBudget {
  readonly #limits: BodyBudgetLimits;
  readonly #bytesOfKeys = new Map<string, number>();
  #bytes = 0;

  constructor(limits: BodyBudgetLimits) {
    this.#limits = limits;
  }

  /** Bytes of all bodies that are being received. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Starts a body of an API key. The caller ends it. */
  startBody(key: string): BodyShare {
    let ownBytes = 0;
    const change = (bytes: number) => {
      ownBytes += bytes;
      this.#bytes += bytes;
      const left = (this.#bytesOfKeys.get(key) ?? 0) + bytes;
      if (left === 0) this.#bytesOfKeys.delete(key);
      else this.#bytesOfKeys.set(key, left);
    };
    return {
      add: (bytes) => {
        const { bytesPerKey, totalBytes } = this.#limits;
        if ((this.#bytesOfKeys.get(key) ?? 0) + bytes > bytesPerKey) {
          throw new ServiceError(
            'rate_limited',
            `The requests that this API key is sending have more than ${bytesPerKey} bytes. Send fewer at a time.`,
            { code: 'rate_limit_exceeded', retryAfterS: RETRY_AFTER_S },
          );
        }
        if (this.#bytes + bytes > totalBytes) {
          throw new ServiceError('overloaded', 'Too many large requests are being received. Retry later.', {
            code: 'server_overloaded',
            retryAfterS: RETRY_AFTER_S,
          });
        }
        change(bytes);
      },
      end: () => change(-ownBytes),
    };
  }
}

/** The part of a budget that one body uses. */
export interface BodyShare {
  /**
   * Counts received bytes before they are kept.
   * @throws ServiceError `rate_limited` over the limit of the key, `overloaded` over the limit of all bodies.
   */
  add(bytes: number): void;
  /** Releases all bytes. Idempotent. */
  end(): void;
}
