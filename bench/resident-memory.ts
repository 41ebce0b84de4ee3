/** Resident memory of processes. */

import { readdirSync, readFileSync } from 'node:fs';

/** Resident memory of a process and its descendants in kB (Linux). */
export function residentKb(root: number): number {
  const parents = new Map<number, number>();
  const resident = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const status = readFileSync(`/proc/${name}/status`, 'utf8');
      parents.set(Number(name), Number(/^PPid:\s*(\d+)/m.exec(status)?.[1]));
      resident.set(Number(name), Number(/^VmRSS:\s*(\d+)/m.exec(status)?.[1] ?? 0));
    } catch {
      // The process has exited.
    }
  }
  const family = new Set([root]);
  for (let grown = true; grown; ) {
    grown = false;
    for (const [pid, parent] of parents) {
      if (!family.has(pid) && family.has(parent)) grown = !!family.add(pid);
    }
  }
  return [...family].reduce((sum, pid) => sum + (resident.get(pid) ?? 0), 0);
}

/** Resident memory of one process, in kB (Linux). */
export function residentAloneKb(pid: number): number {
  return Number(/^VmRSS:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}
