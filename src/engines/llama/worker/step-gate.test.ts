import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { MAX_PAUSE_MS, RUN_MS, StepGate } from './step-gate.ts';

let nowMs = 0;
const clock = { monotonicMs: () => nowMs };

beforeEach(() => {
  nowMs = 0;
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Advances both the timers and the clock. */
async function advance(ms: number): Promise<void> {
  nowMs += ms;
  await vi.advanceTimersByTimeAsync(ms);
}

/** Whether a step may start now. */
async function isOpen(gate: StepGate): Promise<boolean> {
  let open = false;
  void gate.pass().then(() => {
    open = true;
  });
  await vi.advanceTimersByTimeAsync(0);
  return open;
}

describe('a gate', () => {
  test('is open unless it is paused', async () => {
    const gate = new StepGate(clock);
    expect(await isOpen(gate)).toBe(true);
    gate.pause();
    gate.resume();
    expect(await isOpen(gate)).toBe(true);
  });

  test('releases a waiting step when it is resumed', async () => {
    const gate = new StepGate(clock);
    gate.pause();
    const passed = gate.pass();
    await advance(MAX_PAUSE_MS - 1);
    gate.resume();
    await passed;
    expect(vi.getTimerCount()).toBe(0);
  });

  test('lets steps run for some time after the maximum pause, and then pauses again', async () => {
    const gate = new StepGate(clock);
    gate.pause();
    const passed = gate.pass();
    await advance(MAX_PAUSE_MS);
    await passed;
    expect(await isOpen(gate)).toBe(true);
    await advance(RUN_MS - 1);
    expect(await isOpen(gate)).toBe(true);
    await advance(1);
    expect(await isOpen(gate)).toBe(false);
  });
});
