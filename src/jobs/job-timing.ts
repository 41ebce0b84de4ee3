/** Timing of job queues, in milliseconds. Tests use shorter values. */
export interface JobTiming {
  /** Duration of a lease without renewal. */
  readonly leaseMs: number;
  /** Renewal interval; a fraction of the lease, so that a missed renewal has no effect. */
  readonly renewalMs: number;
  /** Poll interval of an idle runner, for jobs of other processes and expired leases. */
  readonly pollMs: number;
  /** Delay after the first failed run. */
  readonly firstRetryMs: number;
}

/** Maximum delay after a failed run. */
const MAX_RETRY_MS = 60_000;

/** Returns the delay after a number of consecutive failed runs: doubled each time, up to one minute. */
export function retryDelayMs({ firstRetryMs }: JobTiming, failures: number): number {
  return Math.min(MAX_RETRY_MS, firstRetryMs * 2 ** (failures - 1));
}
