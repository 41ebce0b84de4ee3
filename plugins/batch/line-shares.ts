/** How many lines of each batch may run at once in this process, and how long, so that nobody shuts out others. */

/** Bytes of input lines that are worked on at once, of all batches. */
const MOST_BYTES = 16 * 1024 * 1024;

/** What one batch may run. */
export interface LineShare {
  /** Lines at once, at least 1; changes when batches come and go. */
  readonly limit: number;
  /** Bytes of lines at once, changing likewise; one line alone may be longer. */
  readonly limitBytes: number;
  /** The batch runs no more. Idempotent. */
  leave(): void;
}

/** Organizations have equal shares, and inside of each its batches. */
export class LineShares {
  readonly #atOnce: number;
  /** Batches of each organization that run. */
  readonly #batches = new Map<string, number>();

  /** @param atOnce lines of all batches; one for each batch when there are more of them. */
  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  join(organization: string): LineShare {
    const batches = this.#batches;
    batches.set(organization, (batches.get(organization) ?? 0) + 1);
    const limit = () => Math.max(1, this.#shareOf(this.#atOnce, organization));
    const limitBytes = () => this.#shareOf(MOST_BYTES, organization);
    let isIn = true;
    return {
      get limit() {
        return limit();
      },
      get limitBytes() {
        return limitBytes();
      },
      leave() {
        if (!isIn) return;
        isIn = false;
        const left = (batches.get(organization) ?? 1) - 1;
        if (left === 0) batches.delete(organization);
        else batches.set(organization, left);
      },
    };
  }

  #shareOf(all: number, organization: string): number {
    const own = this.#batches.get(organization) ?? 1;
    const organizations = Math.max(1, this.#batches.size);
    return Math.floor(all / organizations / own);
  }
}
