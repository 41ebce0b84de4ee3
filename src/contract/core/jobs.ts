/**
 * Durable background jobs. A job is run until one run reports that it is done. The queue stores only the kind
 * and id of a job; its feature names the kind and stores the content and the progress.
 */

/**
 * `done` removes the job. `again` runs it again after `delayMs`, possibly in another process; other waiting
 * jobs run first.
 */
export type JobOutcome = { readonly kind: 'done' } | { readonly kind: 'again'; readonly delayMs: number };

export interface JobHandler {
  /** Name of a kind of jobs, unique to its feature: letters, digits, `-` and `_`. */
  readonly kind: string;
  /** Maximum number of concurrent jobs of this kind in this process. */
  readonly concurrency: number;
  /**
   * Runs a job. Two runners can briefly run the same job, after the lease of a live runner expires. Therefore
   * the feature must guard its writes with its own record.
   * @param signal fires when the queue assigns the job to another runner and when the process drains or
   *   stops: save the progress and resolve with `again`.
   * @throws any error to have the job retried with exponential backoff of up to one minute. Jobs are never
   *   dropped.
   */
  runJob(id: string, signal: AbortSignal): Promise<JobOutcome>;
}

export interface JobRunner {
  /**
   * Stops claiming jobs and fires the signals of running ones. Resolves when all of them have resolved.
   * Idempotent.
   */
  stop(): Promise<void>;
}

export interface JobQueue {
  /**
   * Stores a job durably. Does nothing if the job is already queued or running.
   * @throws ServiceError `overloaded` if the queue is unavailable.
   */
  enqueue(kind: string, id: string): Promise<void>;
  /**
   * Starts running jobs of a kind, including jobs that earlier processes left. At most one runner per kind.
   */
  startRunner(handler: JobHandler): JobRunner;
  /** Stops the remaining runners. Idempotent. */
  close(): Promise<void>;
}
