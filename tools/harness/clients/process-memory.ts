import { readdirSync, readFileSync } from 'node:fs';

/** Memory of a process and its descendants in kB: private memory and a proportional share of shared memory (PSS). */
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

/** The content of a file of /proc; empty if the process has exited. */
function readWhileAlive(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
