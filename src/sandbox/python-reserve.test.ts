import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { isRunning } from '../kit/process/host-id.ts';
import type { PythonProcess } from './python-process.ts';
import { PythonReserve } from './python-reserve.ts';

const entry = join(import.meta.dirname, '../../test/harness/escaped-python.ts');

function reserve(idleMs?: number): PythonReserve {
  const own = new PythonReserve({ timeMs: 10_000, heapBytes: 2 ** 26, entry }, idleMs);
  onTestFinished(() => own.close());
  return own;
}

function takeFrom(own: PythonReserve): PythonProcess {
  const python = own.take();
  onTestFinished(() => python.kill());
  return python;
}

test('keeps one process in reserve, and starts another one when a taken process is ready', async () => {
  const own = reserve();
  expect(own.filled).toBe(false);
  own.prepare();
  expect(own.filled).toBe(true);
  const first = takeFrom(own);
  expect(own.filled).toBe(false);
  await first.ready();
  await expect.poll(() => own.filled).toBe(true);
  expect(takeFrom(own).pid).not.toBe(first.pid);
});

test('retries after a process failed to start', async () => {
  const own = new PythonReserve({ timeMs: 1000, heapBytes: 2 ** 26, entry: '/nowhere/worker.ts' });
  onTestFinished(() => own.close());
  own.prepare();
  await expect.poll(() => own.filled).toBe(false);
  expect(takeFrom(own).pid).toBeGreaterThan(0);
});

test('stops the reserve process after the idle time, and on close', async () => {
  const own = reserve(300);
  own.prepare();
  await expect.poll(() => own.filled).toBe(false);
  const python = takeFrom(own);
  await python.ready();
  await own.close();
  expect(own.filled).toBe(false);
  expect(isRunning(python.pid)).toBe(true);
  own.prepare();
  expect(own.filled).toBe(false);
  expect(() => own.take()).toThrow('is closed');
});
