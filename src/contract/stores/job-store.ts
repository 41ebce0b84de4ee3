/** The table of the embedded queue: jobs, and who has them until when. */

import type { JobKind } from '../core/jobs.ts';
import type { Traceparent } from '../core/tracer.ts';

/** A job in the hands of one run. */
export interface ClaimedJob {
  readonly id: string;
  /** Runs that failed since one did not. */
  readonly failures: number;
  /** What asked for it; undefined when that was not traced. */
  readonly cause: Traceparent | undefined;
}

/** What one run has, from now until a time. */
export interface JobLease {
  readonly kind: JobKind;
  /** A name that no other run has. */
  readonly lease: string;
}

/** No job waits longer: a later time was written by a clock that has been set back since. */
export const MAX_SCHEDULE_AHEAD_MS = 600_000;

/** Times are Unix milliseconds. What a lease that another one has replaced asks for is not done. */
export interface JobStore {
  /** Stores a job that is free at once; one that is there is left as it is. */
  addJob(kind: JobKind, id: string, at: number, cause?: Traceparent): Promise<void>;
  /**
   * Gives the job that has been free for longest to a lease; undefined when none is free. Of several who ask, one
   * gets it. One that would be free after more than {@link MAX_SCHEDULE_AHEAD_MS} is free now.
   */
  claimJob(
    lease: JobLease,
    times: { readonly at: number; readonly until: number },
  ): Promise<ClaimedJob | undefined>;
  /** Which of these leases still have their job; they have it until then. */
  renewLeases(listLeases: readonly string[], until: number): Promise<ReadonlySet<string>>;
  /** Frees the job of a lease from a time on. */
  rescheduleJob(lease: string, at: number, failures: number): Promise<void>;
  /** Removes the job of a lease. */
  removeJob(lease: string): Promise<void>;
  /** Leases of jobs of a kind, ended ones too. */
  leases(kind: JobKind): Promise<readonly string[]>;
  /** Frees the job of a run that died, as it was. */
  releaseJob(lease: string, at: number): Promise<void>;
}
