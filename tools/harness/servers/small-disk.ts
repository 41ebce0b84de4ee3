import { mkdtemp, rm, rmdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Whether this process may mount a disk; for `needs(context, CAN_MOUNT, 'the right to mount a disk')`. */
export const CAN_MOUNT = await mayMount();

/** A separate disk in memory. */
export interface SmallDisk {
  readonly folder: string;
  /** Fills the free space. */
  fill(): Promise<void>;
  /** Releases the filled space. */
  free(): Promise<void>;
  /** Idempotent. */
  close(): Promise<void>;
}

/** Mounts an empty disk; the caller closes it. */
export async function mountSmallDisk(mib: number): Promise<SmallDisk> {
  const folder = await mkdtemp(join(tmpdir(), 'small-disk-'));
  if (!(await run('mount', '-t', 'tmpfs', '-o', `size=${mib}m`, 'tmpfs', folder))) {
    throw new Error('a disk cannot be mounted: check CAN_MOUNT first');
  }
  const filler = join(folder, 'filler');
  let isMounted = true;
  return {
    folder,
    async fill() {
      // Decreasing sizes, so that no space remains.
      for (const bytes of [1 << 20, 1 << 16, 1 << 12]) {
        const piece = new Uint8Array(bytes);
        while (await append(filler, piece));
      }
    },
    free: () => rm(filler, { force: true }),
    async close() {
      if (!isMounted) return;
      isMounted = false;
      await run('umount', '--lazy', folder);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A folder that shows another one and cannot be changed. */
export interface ReadOnlyFolder {
  readonly folder: string;
  close(): Promise<void>;
}

/** Mounts a read-only view of a folder; the caller closes it. */
export async function mountReadOnly(target: string): Promise<ReadOnlyFolder> {
  const folder = await mkdtemp(join(tmpdir(), 'read-only-'));
  const isMounted =
    (await run('mount', '--bind', target, folder)) && (await run('mount', '-o', 'remount,bind,ro', folder));
  if (!isMounted) throw new Error('a folder cannot be mounted: check CAN_MOUNT first');
  return {
    folder,
    async close() {
      await run('umount', '--lazy', folder);
      await rmdir(folder);
    },
  };
}

async function append(path: string, bytes: Uint8Array): Promise<boolean> {
  try {
    await writeFile(path, bytes, { flag: 'a' });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return false;
    throw error;
  }
}

async function mayMount(): Promise<boolean> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  const folder = await mkdtemp(join(tmpdir(), 'may-mount-'));
  const may = await run('mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder);
  if (may) await run('umount', folder);
  await rm(folder, { recursive: true });
  return may;
}

async function run(...command: string[]): Promise<boolean> {
  return (await Bun.spawn(command, { stdio: ['ignore', 'ignore', 'ignore'] }).exited) === 0;
}
