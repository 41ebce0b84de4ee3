/** Table of the embedded job queue: jobs and their leases. */

import type { Traceparent } from '../core/tracer.ts';

/** A job claimed by a run. */
export interface ClaimedJob {
  readonly id: string;
  /** Number of consecutive failed runs. */
  readonly failures: number;
  /** Trace context of the request that enqueued the job; undefined if it was not traced. */
  readonly cause: Traceparent | undefined;
}

/** Lease of one run on a job. */
export interface JobLease {
  readonly kind: string;
  /** Unique name of the run. */
  readonly lease: string;
}

/** Maximum delay of a job. A later time was written by a clock that has been set back since. */
export const MAX_SCHEDULE_AHEAD_MS = 600_000;

/** Times are Unix milliseconds. Calls with a lease that has been replaced have no effect. */
export interface JobStore {
  /** Stores a job that can be claimed immediately. Does nothing if the job exists. */
  addJob(kind: string, id: string, at: number, cause?: Traceparent): Promise<void>;
  /**
   * Claims the job that has been available longest; undefined if none is available. Concurrent calls never
   * claim the same job. A job scheduled more than {@link MAX_SCHEDULE_AHEAD_MS} ahead is available
   * immediately.
   */
  claimJob(
    lease: JobLease,
    times: { readonly at: number; readonly until: number },
  ): Promise<ClaimedJob | undefined>;
  /**
   * Extends leases until `until`.
   * @returns the leases that still hold their job.
   */
  renewLeases(listLeases: readonly string[], until: number): Promise<ReadonlySet<string>>;
  /** Releases the job of a lease and schedules it for `at`. */
  rescheduleJob(lease: string, at: number, failures: number): Promise<void>;
  /** Removes the job of a lease. */
  removeJob(lease: string): Promise<void>;
  /** Lists the leases on jobs of a kind, including expired ones. */
  leases(kind: string): Promise<readonly string[]>;
  /** Releases the job of a crashed run without counting a failure. */
  releaseJob(lease: string, at: number): Promise<void>;
}
