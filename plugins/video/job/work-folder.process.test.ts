import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { needs } from '../../../test/harness/needs.ts';
import { tempDir } from '../../../test/harness/temp-dir.ts';
import { CAN_MOUNT, mountSmallDisk } from '../../../tools/harness/servers/small-disk.ts';
import { removeAbandonedWork, WorkFolder, workPrefix } from './work-folder.ts';

const never = new AbortController().signal;

async function* bytes(...texts: readonly string[]) {
  for (const text of texts) yield Buffer.from(text);
}

it('stores private files until it is released', async () => {
  const parent = await tempDir();
  const folder = await WorkFolder.open(parent);
  const clip = await folder.write('clip', bytes('some ', 'bytes'), never);
  expect(clip.lengthBytes).toBe(10);
  expect(await readFile(clip.path, 'utf8')).toBe('some bytes');
  expect((await stat(clip.path)).mode & 0o777).toBe(0o600);
  await folder.release();
  await folder.release();
  expect(await readdir(parent)).toEqual([]);
});

it('rethrows the errors of the bytes and the reason of an abort', async () => {
  const folder = await WorkFolder.open(await tempDir());
  const broken = async function* () {
    yield Buffer.from('x');
    throw new Error('broken');
  };
  await expect(folder.write('a', broken(), never)).rejects.toThrow('broken');
  const leaving = new AbortController();
  const reason = new Error('left');
  const silent = async function* () {
    yield Buffer.from('x');
    setImmediate(() => leaving.abort(reason));
    await new Promise(() => undefined);
  };
  await expect(folder.write('b', silent(), leaving.signal)).rejects.toBe(reason);
});

it('reports a full disk before and during a write', async (context) => {
  needs(context, CAN_MOUNT, 'the right to mount a disk');
  const disk = await mountSmallDisk(1);
  try {
    const folder = await WorkFolder.open(disk.folder);
    const large = async function* () {
      for (let written = 0; written < 64; written += 1) yield new Uint8Array(64 * 1024);
    };
    const full = { kind: 'overloaded', retryAfterS: expect.any(Number) };
    await expect(folder.write('clip', large(), never)).rejects.toMatchObject(full);
    await folder.release();
    await disk.fill();
    const other = WorkFolder.open(disk.folder).then((it) => it.write('clip', bytes('x'.repeat(5000)), never));
    await expect(other).rejects.toMatchObject(full);
  } finally {
    await disk.close();
  }
});

it('deletes folders of exited processes of the same host only', async () => {
  const parent = await tempDir();
  const own = await WorkFolder.open(parent);
  const [, hostId = ''] = workPrefix().split('-');
  const exited = Bun.spawn(['true']);
  await exited.exited;
  const dead = workPrefix({ hostId, pid: exited.pid, instance: 'aaaa' });
  const before = workPrefix({ hostId, pid: process.pid, instance: 'bbbb' });
  const running = workPrefix({ hostId, pid: process.ppid, instance: 'cccc' });
  const elsewhere = workPrefix({ hostId: 'other', pid: exited.pid, instance: 'dddd' });
  for (const name of [dead, before, running, elsewhere, 'notes']) {
    await mkdir(join(parent, name));
    await writeFile(join(parent, name, 'clip'), 'x');
  }
  expect(await removeAbandonedWork(parent)).toBe(2);
  const left = (await readdir(parent)).filter((name) => !name.startsWith(workPrefix()));
  expect(new Set(left)).toEqual(new Set([running, elsewhere, 'notes']));
  await own.release();
});
