import { resolve } from 'node:path';

const SOURCES = resolve(import.meta.dir, '../../src/');
const BUSY_PROCESSES = 4;
const PAUSE_MS = 300;
/** State of a process that a test has stopped; it must not be continued. */
const STOPPED = 'T';
/** Maximum time between two pauses. */
const MAX_INTERVAL_MS = 2000;

/**
 * Loads the machine like a noisy neighbour: four busy processes compete with the tests for the cores, and processes of the
 * service that the tests have started are paused for 300 ms at random times.
 */
export function startStress(): { stop(): void } {
  const busy = Array.from({ length: BUSY_PROCESSES }, () =>
    Bun.spawn([process.execPath, '-e', 'for (;;);'], { stdio: ['ignore', 'ignore', 'ignore'] }),
  );
  let timer: Timer | undefined;
  let paused: number | undefined;
  const resume = () => {
    if (paused !== undefined) send(paused, 'SIGCONT');
    paused = undefined;
    timer = setTimeout(pause, Math.random() * MAX_INTERVAL_MS);
  };
  const pause = () => {
    const candidates = serviceProcesses();
    paused = candidates[Math.floor(Math.random() * candidates.length)];
    if (paused !== undefined) send(paused, 'SIGSTOP');
    timer = setTimeout(resume, PAUSE_MS);
  };
  resume();
  return {
    stop() {
      if (paused !== undefined) send(paused, 'SIGCONT');
      clearTimeout(timer);
      for (const process of busy) process.kill('SIGKILL');
    },
  };
}

/** Ids of the descendants of this process that run sources of the service. */
function serviceProcesses(): number[] {
  const table = Bun.spawnSync(['ps', '-eo', 'pid=,ppid=,stat=,args=']).stdout.toString();
  const rows = table.split('\n').flatMap((line) => {
    const [, pid, parent, state, args = ''] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), state, args }];
  });
  const own = new Set([process.pid]);
  for (let size = 0; size !== own.size; ) {
    size = own.size;
    for (const { pid, parent } of rows) if (own.has(parent)) own.add(pid);
  }
  return rows
    .filter(({ pid, args }) => own.has(pid) && args.includes(SOURCES))
    .filter(({ state }) => state?.startsWith(STOPPED) === false)
    .map(({ pid }) => pid);
}

function send(pid: number, signal: 'SIGSTOP' | 'SIGCONT'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended.
  }
}
