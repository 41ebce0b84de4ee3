/** Names of leases in a table: they tell whose they are, so that those of a process that died need not end by time. */

/** A process that runs jobs. */
export interface LeaseHolder {
  /** Where its number means something (src/kit/process-place.ts). */
  readonly place: string;
  readonly pid: number;
  /** Of this start of it: numbers are used again. */
  readonly instance: string;
}

/** The name of one run's lease. */
export function leaseName(holder: LeaseHolder, run: number): string {
  return [holder.place, holder.pid, holder.instance, run].join('|');
}

/** Whether the process that had a lease is known to have ended; one of another place never is. */
export function isOfDead(lease: string, self: LeaseHolder, isRunning: (pid: number) => boolean): boolean {
  const [place, pid, instance] = lease.split('|');
  if (place !== self.place || instance === self.instance) return false;
  return Number(pid) === self.pid || !isRunning(Number(pid));
}
