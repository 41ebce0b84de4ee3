import { readdirSync, readFileSync } from 'node:fs';

/**
 * Memory of a process and everything it started, in kB: what each has of its own and its share of what several have
 * (PSS, proc_pid_smaps(5)).
 */
export function familyMemoryKb(root: number): number {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const status = readWhileAlive(`/proc/${name}/status`);
    parents.set(Number(name), Number(/^PPid:\s*(\d+)/m.exec(status)?.[1]));
  }
  const belongs = (pid: number | undefined): boolean =>
    pid === root || (pid !== undefined && belongs(parents.get(pid)));
  const family = [...parents.keys()].filter(belongs);
  return family.reduce((sum, pid) => {
    const rollup = readWhileAlive(`/proc/${pid}/smaps_rollup`);
    return sum + Number(/^Pss:\s*(\d+)/m.exec(rollup)?.[1] ?? 0);
  }, 0);
}

/** Nothing, of a process that has ended. */
function readWhileAlive(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
