/** Names of leases in a table: they tell whose they are, so that those of a process that died need not end by time. */

import { hasExited, type ProcessIdentity } from '../kit/process/host-id.ts';

/** The name of one run's lease. */
export function leaseName(holder: ProcessIdentity, run: number): string {
  return [holder.hostId, holder.pid, holder.instance, run].join('|');
}

/** Whether the process that had a lease is known to have ended; one of another place never is. */
export function isHeldByExitedProcess(lease: string, self: ProcessIdentity, isRunning: (pid: number) => boolean): boolean {
  const [place = '', pid, instance = ''] = lease.split('|');
  return hasExited({ hostId: place, pid: Number(pid), instance }, self, isRunning);
}
