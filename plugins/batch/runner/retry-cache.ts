import type { Id } from '../../../src/contract/core/id.ts';
import { LineRetries, type RetryParts } from './retry-policy.ts';

/** Batches that are remembered; the oldest is forgotten first. */
const MAX_BATCHES = 256;

/**
 * Since when lines fail, between the runs of a batch that gives way to others: otherwise no line would fail for as long
 * as it takes to be given up. Another process, which may go on with the batch, begins to count anew.
 */
export class RememberedRetries {
  readonly #parts: RetryParts;
  readonly #batches = new Map<Id<'batch'>, LineRetries>();

  constructor(parts: RetryParts) {
    this.#parts = parts;
  }

  take(batch: Id<'batch'>): LineRetries {
    const retries = this.#batches.get(batch) ?? new LineRetries(this.#parts);
    this.#batches.delete(batch);
    return retries;
  }

  /** To be called when a run ends. */
  keep(batch: Id<'batch'>, retries: LineRetries): void {
    if (retries.isEmpty) return;
    this.#batches.set(batch, retries);
    const [oldest] = this.#batches.keys();
    if (this.#batches.size > MAX_BATCHES && oldest !== undefined) this.#batches.delete(oldest);
  }
}
