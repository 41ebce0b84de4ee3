/** Names of leases in a table: they tell whose they are, so that those of a process that died need not end by time. */

import { hasEnded, type ProcessStart } from '../kit/process/host-id.ts';

/** The name of one run's lease. */
export function leaseName(holder: ProcessStart, run: number): string {
  return [holder.place, holder.pid, holder.instance, run].join('|');
}

/** Whether the process that had a lease is known to have ended; one of another place never is. */
export function isOfDead(lease: string, self: ProcessStart, isRunning: (pid: number) => boolean): boolean {
  const [place = '', pid, instance = ''] = lease.split('|');
  return hasEnded({ place, pid: Number(pid), instance }, self, isRunning);
}
