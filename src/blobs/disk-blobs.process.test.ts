import { readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { blobStoreCases, chunks, wholeOf } from '../../test/contract/blob-store.cases.ts';
import { needs } from '../../test/harness/needs.ts';
import { tempDir } from '../../test/harness/temp-dir.ts';
import { repetitions } from '../../test/harness/tier.ts';
import { ManualClock } from '../../tools/harness/doubles/manual-clock.ts';
import { CAN_MOUNT, mountSmallDisk } from '../../tools/harness/servers/small-disk.ts';
import { openDiskBlobs } from './disk-blobs.ts';

const clock = new ManualClock(0);
const never = new AbortController().signal;
const HOUR_MS = 3_600_000;

async function heldBytes(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map(({ parentPath, name }) => stat(join(parentPath, name))));
  return sizes.reduce((sum, { size }) => sum + size, 0);
}

describe('blobs on disk', () => {
  blobStoreCases(async () => {
    const folder = await tempDir();
    const settings = { kind: 'disk', folder } as const;
    return { blobs: await openDiskBlobs(folder, clock), settings, heldBytes: () => heldBytes(folder) };
  });

  it('survive a restart, and only the current user can access them', async () => {
    const folder = join(await tempDir(), 'deep', 'blobs');
    const first = await openDiskBlobs(folder, clock);
    await first.write('files/a/b', chunks('text'), never);
    await first.close();
    const second = await openDiskBlobs(folder, clock);
    expect(String(await wholeOf(second, 'files/a/b'))).toBe('text');
    const modeOf = async (...path: string[]) =>
      ((await stat(join(folder, ...path))).mode & 0o777).toString(8);
    expect(await modeOf('files', 'a', 'b')).toBe('600');
    for (const path of [[], ['files'], ['files', 'a'], ['~unfinished']]) {
      expect(await modeOf(...path)).toBe('700');
    }
  });

  it('a write succeeds while deletions remove its folder', async () => {
    const blobs = await openDiskBlobs(await tempDir(), clock);
    // A folder is removed within a call of `mkdir` once in some hundred rounds.
    for (let round = 0; round < repetitions(100, 400); round += 1) {
      await blobs.write('b/1/old', chunks('old'), never);
      await Promise.all([
        blobs.write(`b/1/${round}`, chunks('new'), never),
        blobs.write(`b/2/${round}`, chunks('new'), never),
        ...['b/', 'b/1/', 'b/2/'].map((prefix) => blobs.deleteAll(prefix, never)),
      ]);
    }
  });

  it('are files that another process can read, even if they are deleted at the same time', async () => {
    const blobs = await openDiskBlobs(await tempDir(), clock);
    await blobs.write('files/x', chunks('first ', 'second'), never);
    const file = await blobs.openFile?.('files/x');
    await blobs.delete('files/x');
    const reader = Bun.spawn(['cat'], { stdio: [file?.fd, 'pipe', 'inherit'], env: {} });
    await file?.close();
    expect(await reader.stdout.text()).toBe('first second');
    for (const name of ['files/x', 'files', 'files/y']) expect(await blobs.openFile?.(name)).toBeUndefined();
    await expect(blobs.openFile?.('../x')).rejects.toThrow(RangeError);
  });

  it('leave no empty folders behind', async () => {
    const folder = await tempDir();
    const blobs = await openDiskBlobs(folder, clock);
    for (const name of ['b/1/x', 'b/1/c/y', 'b/2/z']) await blobs.write(name, chunks('x'), never);
    await blobs.deleteAll('b/1/', never);
    expect(await readdir(join(folder, 'b'))).toEqual(['2']);
    await blobs.delete('b/2/z');
    await blobs.deleteAll('b/2/', never);
    expect(await readdir(join(folder, 'b'))).toEqual([]);
  });

  it('remove unfinished files of exited local processes, and old ones of other hosts', async () => {
    const folder = await tempDir();
    const unfinished = join(folder, '~unfinished');
    const exited = Bun.spawn(['true']);
    await exited.exited;
    const holding = Promise.withResolvers<string>();
    const resume = Promise.withResolvers<void>();
    const blobs = await openDiskBlobs(folder, clock);
    const written = blobs.write(
      'files/live',
      (async function* () {
        yield Buffer.from('x');
        const [name = ''] = await readdir(unfinished);
        holding.resolve(name);
        await resume.promise;
      })(),
      never,
    );
    const live = await holding.promise;
    const [hostId = ''] = live.split('-');
    // Its process id was reused by this process.
    const namesake = `${hostId}-${process.pid}-0123456789abcdef-1`;
    const far = `0123456789abcdef-${exited.pid}-fedcba9876543210-2`;
    const dead = `${hostId}-${exited.pid}-0123456789abcdef-3`;
    const old = 'elsewhere-1-0123456789abcdef-4';
    const nowMs = 10 * HOUR_MS;
    const createOld = async (name: string, ms: number) => {
      await writeFile(join(unfinished, name), 'x');
      await utimes(join(unfinished, name), ms / 1000, ms / 1000);
    };
    await createOld(namesake, nowMs);
    await createOld(far, nowMs - HOUR_MS);
    await createOld(dead, nowMs);
    await createOld(old, nowMs - 7 * HOUR_MS);
    await utimes(join(unfinished, live), nowMs / 1000, nowMs / 1000);
    const next = new ManualClock(nowMs);
    const other = await openDiskBlobs(folder, next);
    expect((await readdir(unfinished)).sort()).toEqual([far, live].sort());
    next.advance(5 * HOUR_MS + 1000);
    expect(await other.removeUnfinished(never)).toBe(1);
    resume.resolve();
    await written;
    expect(await readdir(unfinished)).toEqual([]);
  });

  it('report a full disk, store no incomplete blobs, and work again when there is space', async (context) => {
    needs(context, CAN_MOUNT, 'the right to mount a disk');
    const disk = await mountSmallDisk(4);
    onTestFinished(() => disk.close());
    const blobs = await openDiskBlobs(disk.folder, clock);
    await blobs.write('files/small', chunks('text'), never);
    const tooLong = Array.from({ length: 5 }, () => Buffer.alloc(1024 * 1024));
    const full = { kind: 'overloaded', code: 'server_overloaded', retryAfterS: 30 };
    await expect(blobs.write('files/long', chunks(...tooLong), never)).rejects.toMatchObject(full);
    expect(await heldBytes(disk.folder)).toBe(4);
    await blobs.write('files/fits', chunks(...tooLong.slice(0, 3)), never);
    await blobs.delete('files/fits');
    await disk.fill();
    // Creating a folder fails as well.
    await expect(blobs.write('other/x', chunks('text'), never)).rejects.toMatchObject(full);
    expect(String(await wholeOf(blobs, 'files/small'))).toBe('text');
    await disk.free();
    await blobs.write('other/x', chunks('text'), never);
  });
});
