/** CPU priorities of worker processes, which cannot be raised again. */

import { readdirSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { libc } from '../../kit/process/libc.ts';

/** Linux scheduling class (sched.h): any other runnable thread preempts these threads immediately. */
const SCHED_IDLE = 5;
const THREADS = '/proc/self/task';

/**
 * Applies to every thread and to threads that are created later. Falls back to the lowest nice level where the class is
 * not available or not permitted.
 */
export function setSchedIdle(): void {
  // The fallback. It has no effect on threads under SCHED_IDLE.
  setPriority(constants.priority.PRIORITY_LOW);
  if (process.platform !== 'linux') return;
  const { sched_setscheduler: setScheduler } = libc();
  // The only field of `struct sched_param`, which must be 0 for this class.
  const parameters = new Int32Array(1);
  // Errors are ignored: the thread has exited, or the class is not permitted and the fallback applies.
  for (const thread of readdirSync(THREADS)) setScheduler(Number(thread), SCHED_IDLE, parameters);
}

/**
 * Sets the nice level of every thread, and of threads that are created later. A thread at level 5 gets a quarter of a core
 * that it shares with a thread at level 0.
 */
export function setNice(level: number): void {
  setPriority(level);
  if (process.platform !== 'linux') return;
  for (const thread of readdirSync(THREADS)) {
    try {
      setPriority(Number(thread), level);
    } catch {
      // The thread has exited.
    }
  }
}
