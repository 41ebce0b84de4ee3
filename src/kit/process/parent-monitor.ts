import { readFileSync } from 'node:fs';

const INTERVAL_MS = 500;

/**
 * Notices that npx (or npm) is gone. It runs its command behind a shell and hands a SIGTERM to that shell
 * alone, which dies and leaves `bun run` and this process serving without anybody to end them. The shell is
 * our parent's parent; when `bun run` gets another one, `gone` is called, once.
 * Only Linux shows parents of other processes; elsewhere nothing is watched.
 * @returns what ends the watch.
 */
export function monitorParent(gone: () => void): () => void {
  const runner = process.ppid;
  const shell = parentOf(runner);
  if (shell === undefined) return () => undefined;
  const timer = setInterval(() => {
    if (process.ppid === runner && parentOf(runner) === shell) return;
    clearInterval(timer);
    gone();
  }, INTERVAL_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** Parent of a process, from proc(5): the second field after the name, which is in parentheses. */
function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}
