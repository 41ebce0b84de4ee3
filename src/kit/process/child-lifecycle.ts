import { libc } from './libc.ts';

/** Option and signal of prctl(2). */
const PR_SET_PDEATHSIG = 1;
const SIGKILL = 9;

/**
 * Makes this child process exit only when its parent closes the IPC channel or exits. Signals are ignored: a
 * signal to the process group must not interrupt work that the parent still drains.
 */
export function exitWithParent(): void {
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => undefined);
  process.on('disconnect', () => process.exit(0));
}

/**
 * The kernel kills this child process when its parent exits: a process that is stopped by a signal cannot notice that the
 * channel has closed. Linux only.
 */
export function killWithParent(): void {
  if (process.platform === 'linux') libc().prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}
