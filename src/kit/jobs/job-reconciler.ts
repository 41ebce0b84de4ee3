import type { JobQueue } from '../../contract/core/jobs.ts';
import type { Logger } from '../../contract/core/logger.ts';
import { IntervalTask } from '../async/interval-task.ts';
import { FailureLog } from '../logging/failure-log.ts';
import { listAll } from '../storage/list-all.ts';

const INTERVAL_MS = 30_000;

export interface JobReconcilerOptions<Id extends string> {
  readonly kind: string;
  /** Plural noun of the jobs, for log messages. */
  readonly what: string;
  /** Lists at most `limit` ids of unfinished jobs of all organizations, after the id `after`. */
  readonly listOpen: (limit: number, after?: Id) => Promise<readonly Id[]>;
  readonly jobs: Pick<JobQueue, 'enqueue'>;
  readonly log: Logger;
  readonly intervalMs?: number;
}

/**
 * Adds every unfinished job of a kind to the job queue at start and every 30 s. This covers jobs whose creator crashed
 * before it queued them, and a queue that lost its jobs. Adding a job that is already queued has no effect.
 */
export class JobReconciler<Id extends string> {
  readonly #options: JobReconcilerOptions<Id>;
  readonly #failures: FailureLog;
  readonly #task: IntervalTask;
  #open = 0;

  constructor(options: JobReconcilerOptions<Id>) {
    this.#options = options;
    this.#failures = new FailureLog(options.log, `${options.what} could not be queued`);
    this.#task = new IntervalTask({
      runTask: (signal) => this.#check(signal),
      intervalMs: options.intervalMs ?? INTERVAL_MS,
    });
  }

  /** Number of unfinished jobs, as of the last check. */
  get open(): number {
    return this.#open;
  }

  /** Stops the reconciler. Resolves when no check is running. Idempotent. */
  close(): Promise<void> {
    return this.#task.close();
  }

  async #check(signal: AbortSignal): Promise<void> {
    try {
      await this.#queueAll(signal);
      this.#failures.recordSuccess();
    } catch (error) {
      if (!signal.aborted) this.#failures.recordFailure(error);
    }
  }

  async #queueAll(signal: AbortSignal): Promise<void> {
    const { kind, listOpen, jobs } = this.#options;
    let count = 0;
    for await (const id of listAll(listOpen, signal)) {
      await jobs.enqueue(kind, id);
      count += 1;
    }
    this.#open = count;
  }
}
