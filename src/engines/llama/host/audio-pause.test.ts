import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { AudioPause, MAX_PAUSE_MS, RUN_MS } from './audio-pause.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A pause with the signals that its process received. */
function pauseOf() {
  const signals: string[] = [];
  const pause = new AudioPause({ pause: () => signals.push('stop'), resume: () => signals.push('continue') });
  return { pause, signals };
}

describe('the process of a language model', () => {
  test('is stopped while audio inference is urgent', () => {
    const { pause, signals } = pauseOf();
    pause.setUrgent(false);
    expect(signals).toEqual([]);
    pause.setUrgent(true);
    pause.setUrgent(true);
    vi.advanceTimersByTime(MAX_PAUSE_MS - 1);
    expect(signals).toEqual(['stop']);
    pause.setUrgent(false);
    pause.setUrgent(false);
    expect(signals).toEqual(['stop', 'continue']);
    expect(vi.getTimerCount()).toBe(0);
    pause.setUrgent(true);
    expect(signals).toEqual(['stop', 'continue', 'stop']);
  });

  test('runs for some time after the maximum pause, and is then stopped again', () => {
    const { pause, signals } = pauseOf();
    pause.setUrgent(true);
    vi.advanceTimersByTime(MAX_PAUSE_MS);
    expect(signals).toEqual(['stop', 'continue']);
    pause.setUrgent(false);
    pause.setUrgent(true);
    vi.advanceTimersByTime(RUN_MS - 1);
    expect(signals).toEqual(['stop', 'continue']);
    vi.advanceTimersByTime(1);
    expect(signals).toEqual(['stop', 'continue', 'stop']);
    vi.advanceTimersByTime(MAX_PAUSE_MS);
    pause.setUrgent(false);
    vi.advanceTimersByTime(RUN_MS);
    expect(signals).toEqual(['stop', 'continue', 'stop', 'continue']);
  });

  test('continues when the pause is closed', () => {
    const { pause, signals } = pauseOf();
    pause.close();
    expect(signals).toEqual([]);
    pause.setUrgent(true);
    pause.close();
    expect(signals).toEqual(['stop', 'continue']);
    expect(vi.getTimerCount()).toBe(0);
  });
});
