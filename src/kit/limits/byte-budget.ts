/** Errors of a {@link ByteBudget}. */
export interface ByteBudgetErrors {
  overKeyLimit(bytesPerKey: number): Error;
  overTotalLimit(): Error;
}

export interface ByteLimits {
  /** Maximum bytes of one API key. */
  readonly bytesPerKey: number;
  /** Maximum bytes of all keys. */
  readonly totalBytes: number;
}

/** Limits the memory that requests hold while they depend on a client or another server, per API key and in total. */
export class ByteBudget {
  readonly #limits: ByteLimits;
  readonly #errors: ByteBudgetErrors;
  readonly #bytesOfKeys = new Map<string, number>();
  #bytes = 0;

  constructor(limits: ByteLimits, errors: ByteBudgetErrors) {
    this.#limits = limits;
    this.#errors = errors;
  }

  /** Bytes that are held. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The share of one request of an API key. The caller ends it. */
  openShare(key: string): ByteShare {
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
          throw this.#errors.overKeyLimit(bytesPerKey);
        }
        if (this.#bytes + bytes > totalBytes) throw this.#errors.overTotalLimit();
        change(bytes);
      },
      end: () => change(-ownBytes),
    };
  }
}

/** The part of a budget that one request uses. */
export interface ByteShare {
  /**
   * Counts bytes before they are kept.
   * @throws the errors of the budget over a limit.
   */
  add(bytes: number): void;
  /** Releases all bytes. Idempotent. */
  end(): void;
}
