/** How queues keep time, in milliseconds. Tests take shorter ones. */
export interface JobTiming {
  /** How long a run has its job without saying that it lives. */
  readonly leaseMs: number;
  /** How often it says so; several times within a lease, so that one that is lost costs nothing. */
  readonly renewalMs: number;
  /** How often one that has nothing to do looks for jobs of other processes, and for leases that ended. */
  readonly pollMs: number;
  /** How long a job waits after its first failed run. */
  readonly firstRetryMs: number;
}

/** The longest that a failed job waits. */
const MAX_RETRY_MS = 60_000;

/** How long a job waits after so many failed runs in a row: twice as long each time, up to a minute. */
export function retryDelayMs({ firstRetryMs }: JobTiming, failures: number): number {
  return Math.min(MAX_RETRY_MS, firstRetryMs * 2 ** (failures - 1));
}
