import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { isRunning } from './host-id.ts';
import { type EndReason, limitedCommand, OneShotProcess } from './one-shot-process.ts';

const IDLE = 'setInterval(() => undefined, 1000)';

afterEach(() => {
  vi.useRealTimers();
});

/** Runs code in a process and records why it ended. */
function start(code: string, limits: readonly string[] = []) {
  const child = Bun.spawn({
    cmd: limitedCommand(limits, '-e', code),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const reasons: EndReason<'slow' | 'invalid'>[] = [];
  const ended = Promise.withResolvers<void>();
  const process = new OneShotProcess<'slow' | 'invalid'>(child, (reason) => {
    reasons.push(reason);
    ended.resolve();
  });
  onTestFinished(() => process.kill());
  return { child, process, reasons, ended: ended.promise };
}

it('reports a process that exits or is killed by a signal as crashed', async () => {
  const exiting = start('process.exit(0)');
  expect(exiting.process.endReason).toBeUndefined();
  await exiting.ended;
  expect(exiting.process.endReason).toBe('crashed');
  const killed = start(IDLE);
  process.kill(killed.process.pid, 'SIGKILL');
  await killed.ended;
  await killed.process.kill();
  expect([exiting.reasons, killed.reasons]).toEqual([['crashed'], ['crashed']]);
});

it('kills a process at its deadline, unless it is cleared or replaced', async () => {
  const { process, reasons, ended } = start(IDLE);
  expect(process.hasDeadline).toBe(false);
  vi.useFakeTimers();
  process.setDeadline(10, 'slow');
  expect(process.hasDeadline).toBe(true);
  process.clearDeadline();
  process.setDeadline(20, 'slow');
  process.setDeadline(150, 'invalid');
  vi.advanceTimersByTime(149);
  expect(reasons).toEqual([]);
  vi.advanceTimersByTime(1);
  vi.useRealTimers();
  await ended;
  expect([reasons, process.hasDeadline]).toEqual([['invalid'], false]);
  await process.kill();
  expect(isRunning(process.pid)).toBe(false);
});

it('kills a process that exceeds its memory limit', async () => {
  const code = 'const kept = []; setInterval(() => kept.push(new Uint8Array(2 ** 24).fill(1)), 5)';
  const { process, reasons, ended } = start(code);
  process.limitMemory(2 ** 40);
  process.limitMemory(200 * 2 ** 20);
  await ended;
  expect(reasons).toEqual(['memory']);
});

it('keeps the first reason, and ignores limits that are set later', async () => {
  const { process, reasons } = start(IDLE);
  process.end('invalid');
  process.end('slow');
  vi.useFakeTimers();
  process.setDeadline(0, 'slow');
  process.limitMemory(0);
  vi.advanceTimersByTime(1000);
  vi.useRealTimers();
  await Promise.all([process.kill(), process.kill()]);
  expect([reasons, process.endReason, process.hasDeadline]).toEqual([['invalid'], 'invalid', false]);
  expect(isRunning(process.pid)).toBe(false);
});

it('kill ends a running process', async () => {
  const { process, reasons } = start(IDLE);
  await process.kill();
  expect([reasons, isRunning(process.pid)]).toEqual([['killed'], false]);
});

it('limits the resources of a process and disables core dumps', async () => {
  const code = "process.stdout.write(require('fs').readFileSync('/proc/self/limits', 'utf8'))";
  const { child } = start(code, ['-t 77', '-n 99']);
  const limits = await new Response(child.stdout).text();
  expect(limits).toMatch(/Max core file size +0 +0/);
  expect(limits).toMatch(/Max cpu time +77 +77/);
  expect(limits).toMatch(/Max open files +99 +99/);
});
