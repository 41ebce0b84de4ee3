import { readFileSync } from 'node:fs';

/** Resident memory of a process by proc(5), `VmRSS` of status in kB; 0 where it cannot be seen. */
export function residentBytes(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmRSS:\s*(\d+)/m.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
