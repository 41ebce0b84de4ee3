import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/**
 * Identifies the scope of process ids: one boot of a machine and, with containers, one PID namespace.
 * Processes with the same host id can check whether the other one is running.
 */
export function hostId(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    // Other systems than Linux have no PID namespaces.
    return hostname();
  }
}

/** Identity of a process. */
export interface ProcessIdentity {
  /** Scope of the process id: {@link hostId}. */
  readonly hostId: string;
  readonly pid: number;
  /** Unique id of this process, because process ids are reused. */
  readonly instance: string;
}

/**
 * Whether a process is known to have exited. False for processes of other hosts.
 * @param self the calling process.
 */
export function hasExited(
  other: ProcessIdentity,
  self: ProcessIdentity,
  processIsRunning: (pid: number) => boolean = isRunning,
): boolean {
  if (other.hostId !== self.hostId || other.instance === self.instance) return false;
  return other.pid === self.pid || !processIsRunning(other.pid);
}

/** Whether a process of this host is running. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It is running but belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
