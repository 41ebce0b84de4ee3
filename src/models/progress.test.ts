import { describe, expect, test } from 'vitest';
import { createProgress } from './progress.ts';

function recorder(isTTY: boolean) {
  const written: string[] = [];
  const clock = { nowMs: 0 };
  const output = { isTTY, columns: 120, write: (text: string) => written.push(text) };
  return { written, clock, progress: createProgress(output, () => clock.nowMs) };
}

describe('createProgress', () => {
  test('shows a bar with percentage, bytes, speed and remaining time on a terminal', () => {
    const { written, clock, progress } = recorder(true);
    progress.startDownload('voices', 8_000_000);
    progress.update(0);
    clock.nowMs = 50;
    progress.update(1_000_000);
    clock.nowMs = 1000;
    progress.update(2_000_000);
    progress.finishDownload();
    expect(written).toHaveLength(3);
    expect(written[1]).toBe(
      '\r  voices ██████░░░░░░░░░░░░░░░░░░  25 %  2.0 MB of 8.0 MB  2.0 MB/s  3.0 s left\u001b[K',
    );
    expect(written[2]?.endsWith('in 1.0 s\u001b[K\n')).toBe(true);
  });

  test('without a terminal writes a line every ten seconds and at the end', () => {
    const { written, clock, progress } = recorder(false);
    progress.startDownload('voices', 100_000_000);
    for (let second = 1; second <= 25; second++) {
      clock.nowMs = second * 1000;
      progress.update(second * 1_000_000);
    }
    progress.finishDownload();
    expect(written).toHaveLength(3);
    expect(written[0]).toBe('  voices: 10 %, 10.0 MB of 100.0 MB, 900.0 kB/s, 1 min 40 s left\n');
    for (const control of ['\r', '\u001b']) expect(written.join('')).not.toContain(control);
  });

  test('does not count bytes of an earlier run towards the speed', () => {
    const { written, clock, progress } = recorder(false);
    progress.startDownload('voices', 100_000_000);
    progress.update(50_000_000);
    clock.nowMs = 10_000;
    progress.update(60_000_000);
    expect(written).toEqual(['  voices: 60 %, 60.0 MB of 100.0 MB, 1.0 MB/s, 40 s left\n']);
  });

  test('writes notes on separate lines', () => {
    const { written, progress } = recorder(true);
    progress.note('another source');
    expect(written).toEqual(['\r\u001b[Kanother source\n']);
  });
});
