import type { JobQueue } from '../../../src/contract/core/jobs.ts';
import type { Logger } from '../../../src/contract/core/logger.ts';
import type { Metrics } from '../../../src/contract/core/metrics.ts';
import type { BatchStore } from '../../../src/contract/stores/batch-store.ts';
import { IntervalTask } from '../../../src/kit/async/interval-task.ts';
import { FailureLog } from '../../../src/kit/logging/failure-log.ts';
import { openBatches } from './open-batches.ts';

const INTERVAL_MS = 30_000;

export interface BatchReconcilerDeps {
  readonly batches: Pick<BatchStore, 'open'>;
  readonly jobs: Pick<JobQueue, 'add'>;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly everyMs?: number;
}

/**
 * Tells the queue of every batch that has not ended, at the start and from time to time: of one whose creator died
 * before it could, and of all when the queue has lost them. Those that it knows are left as they are.
 */
export class BatchReconciler {
  readonly #deps: BatchReconcilerDeps;
  readonly #failures: FailureLog;
  readonly #task: IntervalTask;
  #open = 0;

  constructor(deps: BatchReconcilerDeps) {
    this.#deps = deps;
    this.#failures = new FailureLog(deps.log, 'open batches could not be queued');
    deps.metrics.gauge(
      'batches_open',
      'Batches of all machines that had not ended at the last look.',
      () => this.#open,
    );
    this.#task = new IntervalTask({
      runTask: (signal) => this.#reconcile(signal),
      intervalMs: deps.everyMs ?? INTERVAL_MS,
    });
  }

  /** Resolves when nothing is looked at any more. Idempotent. */
  close(): Promise<void> {
    return this.#task.close();
  }

  async #reconcile(signal: AbortSignal): Promise<void> {
    try {
      this.#open = await this.#queueAll(signal);
      this.#failures.worked();
    } catch (error) {
      this.#failures.failed(error);
    }
  }

  async #queueAll(signal: AbortSignal): Promise<number> {
    const { batches, jobs } = this.#deps;
    let count = 0;
    for await (const id of openBatches(batches)) {
      if (signal.aborted) break;
      await jobs.add('batch', id);
      count += 1;
    }
    return count;
  }
}
