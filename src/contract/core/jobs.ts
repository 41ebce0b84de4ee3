/**
 * Work that outlives requests and processes: a name given to one runner after another until one says that it is
 * done. What a job is about, and how far it came, is kept by its feature; a queue knows the name only.
 */

export type JobKind = 'batch' | 'voice' | 'video';

/**
 * `done`: forget the job. `again`: it can go on elsewhere or later, at once when others wait; after `delayMs`
 * otherwise.
 */
export type JobOutcome = { readonly kind: 'done' } | { readonly kind: 'again'; readonly delayMs: number };

export interface JobHandler {
  readonly kind: JobKind;
  /** Jobs of this kind that run at once in this process. */
  readonly concurrency: number;
  /**
   * Works on a job. Two runners may have the same one for a moment (one that was taken for dead), so what it writes
   * must be guarded by the feature's own record.
   * @param signal fires when the queue gave the job to another runner, when the process drains and when it stops:
   *   save what there is and resolve with `again`.
   * @throws what makes the queue try again later, with growing delays up to a minute: a job is never lost.
   */
  runJob(id: string, signal: AbortSignal): Promise<JobOutcome>;
}

export interface JobRunner {
  /** Takes no more jobs and fires the signals of those that run; resolves when they have resolved. Idempotent. */
  stop(): Promise<void>;
}

export interface JobQueue {
  /**
   * Makes a job known, durably; one that waits or runs already is left as it is.
   * @throws ServiceError `overloaded` when the queue cannot be reached.
   */
  enqueue(kind: JobKind, id: string): Promise<void>;
  /** Begins to run jobs of a kind, those of earlier processes too. One runner of a kind at a time. */
  startRunner(handler: JobHandler): JobRunner;
  /** Ends runners that are left. Idempotent. */
  close(): Promise<void>;
}
