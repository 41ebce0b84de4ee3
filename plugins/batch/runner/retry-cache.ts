import type { Id } from '../../../src/contract/core/id.ts';
import { RetryPolicy, type RetryPolicyDeps } from './retry-policy.ts';

/** Maximum number of batches. The oldest one is evicted. */
const MAX_BATCHES = 256;

/**
 * Keeps the retry state of batches between their runs. Without it, a batch that yields often would never reach the retry
 * deadline of its lines. A process that takes over a batch starts counting again.
 */
export class RetryCache {
  readonly #deps: RetryPolicyDeps;
  readonly #policies = new Map<Id<'batch_'>, RetryPolicy>();

  constructor(deps: RetryPolicyDeps) {
    this.#deps = deps;
  }

  /** Removes and returns the retry state of a batch, or creates it. */
  takePolicy(batch: Id<'batch_'>): RetryPolicy {
    const retries = this.#policies.get(batch) ?? new RetryPolicy(this.#deps);
    this.#policies.delete(batch);
    return retries;
  }

  /** Must be called when a run ends. */
  store(batch: Id<'batch_'>, retries: RetryPolicy): void {
    if (retries.isEmpty) return;
    this.#policies.set(batch, retries);
    const [oldest] = this.#policies.keys();
    if (this.#policies.size > MAX_BATCHES && oldest !== undefined) this.#policies.delete(oldest);
  }
}
