import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type SingleUseProcess, SpareProcess } from './spare-process.ts';

const IDLE_MS = 1000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

class FakeProcess implements SingleUseProcess {
  hasEnded = false;

  async kill(): Promise<void> {
    this.hasEnded = true;
  }
}

function scene(idleMs?: number) {
  const started: FakeProcess[] = [];
  const failing = { now: false };
  const spare = new SpareProcess(() => {
    if (failing.now) throw new Error('no descriptors');
    const process = new FakeProcess();
    started.push(process);
    return process;
  }, idleMs);
  return { spare, started, failing };
}

it('keeps one process ready and hands it out once', () => {
  const { spare, started } = scene();
  expect(spare.isReady).toBe(false);
  spare.prepare();
  spare.prepare();
  expect([spare.isReady, started.length]).toEqual([true, 1]);
  expect(spare.acquire()).toBe(started[0]);
  expect(spare.isReady).toBe(false);
  expect(spare.acquire()).toBe(started[1]);
});

it('replaces a spare process that has ended', async () => {
  const { spare, started } = scene();
  spare.prepare();
  await started[0]?.kill();
  expect(spare.isReady).toBe(false);
  spare.prepare();
  await started[1]?.kill();
  expect(spare.acquire()).toBe(started[2]);
});

it('retries a failed start', () => {
  const { spare, started, failing } = scene();
  failing.now = true;
  spare.prepare();
  expect(spare.isReady).toBe(false);
  expect(() => spare.acquire()).toThrow('no descriptors');
  failing.now = false;
  expect(spare.acquire()).toBe(started[0]);
});

it('stops the spare process after the idle time, which each preparation restarts', async () => {
  const { spare, started } = scene(IDLE_MS);
  spare.prepare();
  await vi.advanceTimersByTimeAsync(IDLE_MS - 1);
  spare.prepare();
  await vi.advanceTimersByTimeAsync(IDLE_MS - 1);
  expect(spare.isReady).toBe(true);
  await vi.advanceTimersByTimeAsync(1);
  expect([spare.isReady, started[0]?.hasEnded]).toEqual([false, true]);
});

it('never stops the spare process without an idle time', () => {
  const { spare } = scene();
  spare.prepare();
  expect(vi.getTimerCount()).toBe(0);
});

it('stops the spare process at close, but not an acquired one, and starts none after it', async () => {
  const { spare, started } = scene(IDLE_MS);
  const acquired = spare.acquire();
  spare.prepare();
  await Promise.all([spare.close(), spare.close()]);
  expect([acquired.hasEnded, started[1]?.hasEnded]).toEqual([false, true]);
  spare.prepare();
  expect([spare.isReady, started.length, vi.getTimerCount()]).toEqual([false, 2, 0]);
  expect(() => spare.acquire()).toThrow('is closed');
});
