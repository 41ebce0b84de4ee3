import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../clock.ts';

export interface FileLockOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called once when another process holds the lock. */
  readonly onWait?: (() => void) | undefined;
  /** A lock whose file did not change for so long has lost its owner. */
  readonly staleMs?: number | undefined;
  readonly pollMs?: number | undefined;
}

const STALE_MS = 60_000;
const POLL_MS = 100;

/**
 * Runs `work` while this process holds the lock file `path`; others, also on other machines that share the
 * folder, wait. The owner touches the file while it works. A lock is taken over when its process is gone,
 * or when the file stayed unchanged for `staleMs` as seen by the one who waits (no clocks are compared).
 * Two owners are therefore possible after a stall: use it to spare double work, and let unique temporary
 * names, renames and checksums guard the data.
 * @throws what `work` throws, or the signal's reason when it aborts while waiting.
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
      seenAt = systemClock.monotonicMs();
    }
    const untouchedMs = systemClock.monotonicMs() - seenAt;
    if (ownerIsGone(holder) || untouchedMs > staleMs) {
      if (await takeOver(path, holder, owner, untouchedMs > 2 * staleMs)) return;
    }
    if (waits === 0) options.onWait?.();
    // An abort ends the delay early; the loop's head then throws the signal's own reason.
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
 * Puts this owner in the place of a dead one, unless another was faster. Who does so has the file `.takeover` first, whose
 * content is the new lock: there is no moment without a lock, in which two could make one.
 * @param isHopeless whether somebody who began to take over must have died too.
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

/** True when the owner ran on this machine and its process has ended. */
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
  // A lock that was taken over is no longer ours to refresh.
  await utimes(path, nowS, nowS).catch(() => undefined);
}

function isErrno(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
