/** How many lines of each batch may run at once in this process, and how long, so that nobody shuts out others. */

/** Bytes of input lines that are worked on at once, of all batches. */
const MAX_BYTES = 16 * 1024 * 1024;

/** What one batch may run. */
export interface LineShare {
  /** Lines at once, at least 1; changes when batches come and go. */
  readonly limit: number;
  /** Bytes of lines at once, changing likewise; one line alone may be longer. */
  readonly limitBytes: number;
  /** Whether lines of all batches are as many as may run: another is let end before one more begins. */
  readonly isFull: boolean;
  /** A line runs; the function that is returned says that it does no more. */
  begin(): () => void;
  /** The batch runs no more. Idempotent. */
  leave(): void;
}

/** Organizations have equal shares, and inside of each its batches. */
export class LineShares {
  readonly #atOnce: number;
  /** Batches of each organization that run. */
  readonly #batches = new Map<string, number>();
  /** Lines that run, of all batches: for a while more than the shares, when a batch comes and others have all. */
  #running = 0;

  /** @param atOnce lines of all batches; one for each batch when there are more of them. */
  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  join(organization: string): LineShare {
    const batches = this.#batches;
    batches.set(organization, (batches.get(organization) ?? 0) + 1);
    const limit = () => Math.max(1, this.#shareOf(this.#atOnce, organization));
    const limitBytes = () => this.#shareOf(MAX_BYTES, organization);
    const isFull = () => this.#running >= this.#atOnce;
    const begin = () => {
      this.#running += 1;
      return () => {
        this.#running -= 1;
      };
    };
    let isIn = true;
    return {
      get limit() {
        return limit();
      },
      get limitBytes() {
        return limitBytes();
      },
      get isFull() {
        return isFull();
      },
      begin,
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
