/** Errors of a {@link ByteBudget}. */
export interface ByteBudgetErrors {
  overKeyLimit(bytesPerKey: number): Error;
  overTotalLimit(): Error;
}

export interface ByteLimits {
  /** Maximum bytes of one key: an API key or an organization. */
  readonly bytesPerKey: number;
  /** Maximum bytes of all keys. */
  readonly totalBytes: number;
}

/** Limits the memory that requests and connections hold while they depend on a client or another server, per key and in total. */
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

  /** The share of one request or connection. The caller ends it. */
  openShare(key: string): ByteShare {
    let ownBytes = 0;
    const resize = (bytes: number) => {
      const added = bytes - ownBytes;
      const bytesOfKey = (this.#bytesOfKeys.get(key) ?? 0) + added;
      if (added > 0) {
        const { bytesPerKey, totalBytes } = this.#limits;
        if (bytesOfKey > bytesPerKey) throw this.#errors.overKeyLimit(bytesPerKey);
        if (this.#bytes + added > totalBytes) throw this.#errors.overTotalLimit();
      }
      ownBytes = bytes;
      this.#bytes += added;
      if (bytesOfKey === 0) this.#bytesOfKeys.delete(key);
      else this.#bytesOfKeys.set(key, bytesOfKey);
    };
    return { resize, add: (bytes) => resize(ownBytes + bytes), end: () => resize(0) };
  }
}

/** The part of a budget that one request or connection uses. */
export interface ByteShare {
  /**
   * Counts bytes before they are kept.
   * @throws the errors of the budget over a limit.
   */
  add(bytes: number): void;
  /**
   * Sets the number of bytes. Less than before is always allowed.
   * @throws the errors of the budget over a limit. The number is unchanged then.
   */
  resize(bytes: number): void;
  /** Releases all bytes. Idempotent. */
  end(): void;
}
