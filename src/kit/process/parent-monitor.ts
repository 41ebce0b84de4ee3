import { readFileSync } from 'node:fs';

const INTERVAL_MS = 500;

/**
 * Detects the exit of npx (or npm), which runs its command in a shell and forwards a SIGTERM only to that
 * shell. The shell exits, while `bun run` and this process continue without a supervisor. The shell is the
 * grandparent of this process; when the parent of `bun run` changes, `onExit` is called once. Works only on
 * Linux, which exposes the parents of other processes.
 * @returns a function that stops the monitor.
 */
export function monitorParent(onExit: () => void): () => void {
  const runner = process.ppid;
  const shell = parentOf(runner);
  if (shell === undefined) return () => undefined;
  const timer = setInterval(() => {
    if (process.ppid === runner && parentOf(runner) === shell) return;
    clearInterval(timer);
    onExit();
  }, INTERVAL_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** Returns the parent of a process: the second field after the name (in parentheses) in proc(5) stat. */
function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}
