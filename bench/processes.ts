/** What another process uses of the machine (Linux). */

import { readFileSync } from 'node:fs';

/** Time that all threads of a process had on a processor, from ticks of 10 ms (proc(5)). */
export function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
