/** CPU time of other processes (Linux). */

import { readFileSync } from 'node:fs';

/** CPU time of all threads of a process in ms, with a resolution of 10 ms (proc(5)). */
export function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
