import { readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tempDir } from '../../../test/harness/temp-dir.ts';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { systemClock } from '../clock.ts';
import { withFileLock } from './file-lock.ts';

const quick = { pollMs: 2 } as const;

/** Id of a process that has exited. */
async function deadPid(): Promise<number> {
  const child = Bun.spawn([process.execPath, '--version'], { stdout: 'ignore' });
  await child.exited;
  return child.pid;
}

describe('withFileLock', () => {
  test('is exclusive and leaves no files', async () => {
    const dir = await tempDir();
    const path = join(dir, 'deep', 'lock');
    let inside = 0;
    let most = 0;
    const results = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        withFileLock(path, quick, async () => {
          most = Math.max(most, ++inside);
          await readdir(dir);
          inside--;
          return index;
        }),
      ),
    );
    expect(results).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(most).toBe(1);
    expect(await readdir(join(dir, 'deep'))).toEqual([]);
  });

  test('is released after a failure', async () => {
    const dir = await tempDir();
    const path = join(dir, 'lock');
    const failing = withFileLock(path, quick, () => Promise.reject(new Error('broken')));
    await expect(failing).rejects.toThrow('broken');
    expect(await withFileLock(path, quick, async () => 'next')).toBe('next');
  });

  test('calls onWait once, and stops waiting with the reason of an abort', async () => {
    const dir = await tempDir();
    const path = join(dir, 'lock');
    const stop = new AbortController();
    const stopped = new Error('stopped by the test');
    let waits = 0;
    await withFileLock(path, quick, async () => {
      const { promise: waiting, resolve: onWaiting } = Promise.withResolvers<void>();
      const onWait = () => {
        waits++;
        onWaiting();
      };
      const second = withFileLock(path, { ...quick, signal: stop.signal, onWait }, async () => 'never');
      await waiting;
      stop.abort(stopped);
      await expect(second).rejects.toBe(stopped);
    });
    expect(waits).toBe(1);
  });

  test('exactly one waiter takes over the lock of an exited process immediately', async () => {
    const pid = await deadPid();
    for (let round = 0; round < 30; round += 1) {
      const dir = await tempDir();
      const path = join(dir, 'lock');
      await writeFile(path, JSON.stringify({ host: hostname(), pid, token: 'old' }));
      let most = 0;
      let inside = 0;
      const each = () =>
        withFileLock(path, { ...quick, staleMs: 60_000 }, async () => {
          most = Math.max(most, ++inside);
          await readFile(path);
          inside--;
        });
      await Promise.all(Array.from({ length: 6 }, each));
      expect(most).toBe(1);
      expect(await readdir(dir)).toEqual([]);
    }
  });

  test('takes over after an earlier takeover crashed', async () => {
    const dir = await tempDir();
    const path = join(dir, 'lock');
    const dead = JSON.stringify({ host: hostname(), pid: await deadPid(), token: 'old' });
    await writeFile(path, dead);
    await writeFile(`${path}.takeover`, dead);
    expect(await withFileLock(path, quick, async () => 'mine')).toBe('mine');
    expect(await readdir(dir)).toEqual([]);
  });

  test.each([
    ['of another machine', JSON.stringify({ host: 'elsewhere', pid: 1, token: 'old' })],
    ['without an owner', ''],
  ])('takes over a stale lock %s', async (_name, content) => {
    const dir = await tempDir();
    const path = join(dir, 'lock');
    await writeFile(path, content);
    const startMs = systemClock.monotonicMs();
    expect(await withFileLock(path, { ...quick, staleMs: 100 }, async () => 'mine')).toBe('mine');
    expect(systemClock.monotonicMs() - startMs).toBeGreaterThanOrEqual(100);
  });

  test('keeps a lock while its owner touches it', async () => {
    const dir = await tempDir();
    const path = join(dir, 'lock');
    const order: string[] = [];
    /** Counts the polls of the waiting task. */
    let polls = 0;
    const manual = new ManualClock();
    const clock = {
      now: () => manual.now(),
      monotonicMs() {
        polls += 1;
        return manual.monotonicMs();
      },
    };
    let second: Promise<void> | undefined;
    await withFileLock(path, quick, async () => {
      const waiting = Promise.withResolvers<void>();
      const options = { ...quick, staleMs: 60_000, clock, onWait: waiting.resolve };
      second = withFileLock(path, options, async () => void order.push('second'));
      await waiting.promise;
      // Three times the stale time passes. The owner touches the lock in between.
      for (let touches = 1; touches <= 4; touches += 1) {
        manual.advance(45_000);
        await utimes(path, touches, touches);
        const seen = polls;
        await expect.poll(() => polls).toBeGreaterThan(seen + 4);
      }
      order.push('first');
    });
    await second;
    expect(order).toEqual(['first', 'second']);
  });

  test('is touched while its owner works', async () => {
    const path = join(await tempDir(), 'lock');
    await withFileLock(path, { ...quick, staleMs: 40 }, async () => {
      const touchedMs = async () => (await stat(path)).mtimeMs;
      const createdMs = await touchedMs();
      await expect.poll(touchedMs).toBeGreaterThan(createdMs);
    });
  });
});
