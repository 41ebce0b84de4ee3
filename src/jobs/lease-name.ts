/**
 * Names of leases. They identify the process, so that leases of a crashed process can be released before they
 * expire.
 */

import { hasExited, type ProcessIdentity } from '../kit/process/host-id.ts';

/** Returns the lease name of a run. */
export function leaseName(holder: ProcessIdentity, run: number): string {
  return [holder.hostId, holder.pid, holder.instance, run].join('|');
}

/** Whether the process that holds a lease is known to have exited; false for processes of other hosts. */
export function isHeldByExitedProcess(
  lease: string,
  self: ProcessIdentity,
  isRunning: (pid: number) => boolean,
): boolean {
  const [host = '', pid, instance = ''] = lease.split('|');
  return hasExited({ hostId: host, pid: Number(pid), instance }, self, isRunning);
}
