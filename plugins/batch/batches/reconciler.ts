import type { JobQueue } from '../../../src/contract/core/jobs.ts';
import type { Logger } from '../../../src/contract/core/logger.ts';
import type { Metrics } from '../../../src/contract/core/metrics.ts';
import type { BatchStore } from '../../../src/contract/stores/batch-store.ts';
import { IntervalTask } from '../../../src/kit/async/interval-task.ts';
import { FailureLog } from '../../../src/kit/logging/failure-log.ts';
import { openBatches } from './open-batches.ts';

const INTERVAL_MS = 30_000;

export interface BatchReconcilerDeps {
  readonly batches: Pick<BatchStore, 'listOpen'>;
  readonly jobs: Pick<JobQueue, 'enqueue'>;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly intervalMs?: number;
}

/**
 * Adds every unfinished batch to the job queue at start and every 30 s. This covers batches whose creator crashed
 * before it queued them, and a queue that lost its jobs. Adding a batch that is already queued has no effect.
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
      'Unfinished batches of all machines, as of the last check.',
      () => this.#open,
    );
    this.#task = new IntervalTask({
      runTask: (signal) => this.#reconcile(signal),
      intervalMs: deps.intervalMs ?? INTERVAL_MS,
    });
  }

  /** Stops the reconciler. Resolves when no check is running. Idempotent. */
  close(): Promise<void> {
    return this.#task.close();
  }

  async #reconcile(signal: AbortSignal): Promise<void> {
    try {
      this.#open = await this.#queueAll(signal);
      this.#failures.recordSuccess();
    } catch (error) {
      this.#failures.recordFailure(error);
    }
  }

  async #queueAll(signal: AbortSignal): Promise<number> {
    const { batches, jobs } = this.#deps;
    let count = 0;
    for await (const id of openBatches(batches)) {
      if (signal.aborted) break;
      await jobs.enqueue('batch', id);
      count += 1;
    }
    return count;
  }
}
