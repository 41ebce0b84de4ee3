import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../contract/core/clock.ts';
import { systemClock } from '../clock.ts';

export interface FileLockOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called once if another process holds the lock. */
  readonly onWait?: (() => void) | undefined;
  /** Time without a change of the lock file after which the lock is stale, in ms. */
  readonly staleMs?: number | undefined;
  readonly pollMs?: number | undefined;
  /** Measures the stale time. Default: the system clock. */
  readonly clock?: Clock | undefined;
}

const STALE_MS = 60_000;
const POLL_MS = 100;

/**
 * Runs `work` while this process holds the lock file `path`. Other processes wait, also on other machines
 * that share the folder. The owner touches the file while it works. A lock is taken over if the process of
 * its owner has exited, or if the waiting process sees no change of the file for `staleMs` (clocks are not
 * compared). After a stall two owners are therefore possible: use the lock to avoid duplicate work, and
 * protect the data with unique temporary names, renames and checksums.
 * @throws errors of `work`; the signal's reason if it aborts while waiting.
 */
export async function withFileLock<T>(
  path: string,
  options: FileLockOptions,
  work: () => Promise<T>,
): Promise<T> {
  const staleMs = options.staleMs ?? STALE_MS;
  const owner = JSON.stringify({ host: hostname(), pid: process.pid, token: randomUUID() });
  await mkdir(dirname(path), { recursive: true });
  await acquire(path, owner, staleMs, options);
  const heartbeat = setInterval(() => void touch(path), staleMs / 4);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    if ((await readOwner(path)) === owner) await rm(path, { force: true });
  }
}

async function acquire(
  path: string,
  owner: string,
  staleMs: number,
  options: FileLockOptions,
): Promise<void> {
  const { clock = systemClock } = options;
  let seen = '';
  let seenAt = 0;
  for (let waits = 0; ; waits++) {
    options.signal?.throwIfAborted();
    if (await create(path, owner)) return;
    const holder = await readOwner(path);
    const changed = (await stat(path).catch(() => undefined))?.mtimeMs;
    if (holder === undefined || changed === undefined) continue;
    if (holder === owner) return;
    const state = `${holder} ${changed}`;
    if (state !== seen) {
      seen = state;
      seenAt = clock.monotonicMs();
    }
    const untouchedMs = clock.monotonicMs() - seenAt;
    if (ownerIsGone(holder) || untouchedMs > staleMs) {
      if (await takeOver(path, holder, owner, untouchedMs > 2 * staleMs)) return;
    }
    if (waits === 0) options.onWait?.();
    // An abort ends the delay early; the head of the loop then throws the signal's own reason.
    await delay(options.pollMs ?? POLL_MS, undefined, { signal: options.signal }).catch(() => undefined);
  }
}

async function create(path: string, owner: string): Promise<boolean> {
  try {
    await writeFile(path, owner, { flag: 'wx' });
    return true;
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false;
    throw error;
  }
}

/**
 * Replaces a dead owner, unless another process was faster. A process first creates the file `.takeover` with
 * the content of the new lock; so a lock file exists at any time and two processes cannot create one.
 * @param isHopeless whether a process that started a takeover must have crashed, too.
 */
async function takeOver(path: string, holder: string, owner: string, isHopeless: boolean): Promise<boolean> {
  const mine = `${path}.takeover`;
  if (!(await create(mine, owner))) {
    const other = await readOwner(mine);
    if (other !== undefined && (isHopeless || ownerIsGone(other))) await rm(mine, { force: true });
    return false;
  }
  if ((await readOwner(path)) !== holder) {
    await rm(mine, { force: true });
    return false;
  }
  await rename(mine, path);
  return (await readOwner(path)) === owner;
}

/** Whether the owner ran on this machine and its process has exited. */
function ownerIsGone(holder: string): boolean {
  try {
    const { host, pid } = JSON.parse(holder) as { host: unknown; pid: unknown };
    if (host !== hostname() || typeof pid !== 'number') return false;
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return isErrno(error, 'ESRCH');
  }
}

async function readOwner(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

async function touch(path: string): Promise<void> {
  const nowS = systemClock.now() / 1000;
  // A lock that was taken over must not be refreshed.
  await utimes(path, nowS, nowS).catch(() => undefined);
}

function isErrno(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
