import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/**
 * Where numbers of processes mean something: one start of one machine and, with containers, one of their
 * namespaces. Two processes of the same place can tell whether the other one lives.
 */
export function hostId(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    // Not Linux, where nothing separates the processes of a machine.
    return hostname();
  }
}

/** One start of a process. */
export interface ProcessIdentity {
  /** Where its number means something: {@link hostId}. */
  readonly hostId: string;
  readonly pid: number;
  /** Of this start of it: numbers are used again. */
  readonly instance: string;
}

/**
 * Whether a process is known to have ended; one of another place never is.
 * @param self who asks.
 */
export function hasExited(
  other: ProcessIdentity,
  self: ProcessIdentity,
  runs: (pid: number) => boolean = isRunning,
): boolean {
  if (other.hostId !== self.hostId || other.instance === self.instance) return false;
  return other.pid === self.pid || !runs(other.pid);
}

/** Whether a process of this place runs. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It runs but belongs to somebody else.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
