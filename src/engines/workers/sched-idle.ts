/** Makes this process one that leaves the cores to all others, for good. */

import { dlopen } from 'bun:ffi';
import { readdirSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

/** A class of Linux's own (sched.h): whoever else wakes up has the core at once, not only more of it. */
const SCHED_IDLE = 5;
const THREADS = '/proc/self/task';

/** Every thread, and each that is made later. Where the system knows no such class, or refuses it, it is nice. */
export function goLast(): void {
  // Where the class is refused; of no account where it is not.
  setPriority(constants.priority.PRIORITY_LOW);
  if (process.platform !== 'linux') return;
  const { sched_setscheduler: setScheduler } = libc();
  // The only field of `struct sched_param`, which must be 0 for this class.
  const parameters = new Int32Array(1);
  // A thread that ended meanwhile is an error of no account, too.
  for (const thread of readdirSync(THREADS)) setScheduler(Number(thread), SCHED_IDLE, parameters);
}

/** The C library that this process has loaded: glibc's, else musl's. */
function libc() {
  const open = (name: string) =>
    dlopen(name, { sched_setscheduler: { args: ['int', 'int', 'ptr'], returns: 'int' } }).symbols;
  try {
    return open('libc.so.6');
  } catch {
    return open(`libc.musl-${process.arch === 'x64' ? 'x86_64' : 'aarch64'}.so.1`);
  }
}
