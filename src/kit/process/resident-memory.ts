import { readFileSync } from 'node:fs';

/**
 * Returns the resident memory of a process in bytes, from `VmRSS` of proc(5) in kB; 0 if it is not available.
 */
export function residentBytes(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmRSS:\s*(\d+)/m.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
