/** Divides the line concurrency of this process fairly among organizations and their batches. */

/** Maximum total size of the input lines in flight, in bytes, over all batches. */
const MAX_BYTES = 16 * 1024 * 1024;

/** The share of one batch. */
export interface FairShare {
  /** Maximum number of concurrent lines, at least 1. Changes when batches join or leave. */
  readonly limit: number;
  /** Maximum total size of concurrent lines, in bytes. Also changes. A single line may be longer. */
  readonly limitBytes: number;
  /** Whether the process runs its maximum number of lines. A line must finish before the next one starts. */
  readonly isFull: boolean;
  /** Counts a running line. Call the returned function when it finishes. */
  startLine(): () => void;
  /** Removes the batch from the division. Idempotent. */
  leave(): void;
}

/** Organizations have equal shares, which are divided equally among their batches. */
export class FairShares {
  readonly #maxLines: number;
  /** Number of running batches per organization. */
  readonly #batches = new Map<string, number>();
  /** Running lines of all batches. Exceeds the limit for a while when a batch joins and all lines are in use. */
  #running = 0;

  /** @param maxLines maximum number of lines over all batches. Each batch may run at least one. */
  constructor(maxLines: number) {
    this.#maxLines = maxLines;
  }

  join(organization: string): FairShare {
    const batches = this.#batches;
    batches.set(organization, (batches.get(organization) ?? 0) + 1);
    const limit = () => Math.max(1, this.#shareOf(this.#maxLines, organization));
    const limitBytes = () => this.#shareOf(MAX_BYTES, organization);
    const isFull = () => this.#running >= this.#maxLines;
    const startLine = () => {
      this.#running += 1;
      return () => {
        this.#running -= 1;
      };
    };
    let hasJoined = true;
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
      startLine,
      leave() {
        if (!hasJoined) return;
        hasJoined = false;
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
