import { readFileSync } from 'node:fs';

/**
 * State of a process, as in proc(5): `S` sleeping, `T` stopped by a signal, `Z` exited. Undefined if there is none. Linux only.
 */
export function processState(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat[stat.lastIndexOf(')') + 2];
  } catch {
    return undefined;
  }
}
