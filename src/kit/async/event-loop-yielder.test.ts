import { expect, it } from 'vitest';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { EventLoopYielder } from './event-loop-yielder.ts';

it('is due after enough time, and reads the clock only after several steps', () => {
  const clock = new ManualClock();
  const yielder = new EventLoopYielder(clock);
  clock.advance(4);
  const due = Array.from({ length: 32 }, () => yielder.isDue(100));
  expect(due.flatMap((isDue, step) => (isDue ? [step + 1] : []))).toEqual([16, 32]);
});

it('reads the clock after each step that processes many bytes', async () => {
  const clock = new ManualClock();
  const yielder = new EventLoopYielder(clock);
  expect(yielder.isDue(300_000)).toBe(false);
  clock.advance(4);
  expect(yielder.isDue(100_000)).toBe(false);
  expect(yielder.isDue(200_000)).toBe(true);
  await yielder.yieldNow();
  expect(yielder.isDue(300_000)).toBe(false);
});

it('yields to the event loop', async () => {
  const yielder = new EventLoopYielder(new ManualClock());
  let others = 0;
  setTimeout(() => {
    others += 1;
  }, 0);
  for (let steps = 0; others === 0 && steps < 1000; steps += 1) await yielder.yieldNow();
  expect(others).toBe(1);
});

it('gives loops that share it one turn', async () => {
  const clock = new ManualClock();
  const yielder = new EventLoopYielder(clock);
  const turn = yielder.yieldNow();
  expect(yielder.yieldNow()).toBe(turn);
  clock.advance(4);
  await turn;
  // The time counts from the turn, not from the call of the last loop.
  expect(yielder.isDue(300_000)).toBe(false);
  clock.advance(4);
  expect(yielder.isDue(300_000)).toBe(true);
  expect(yielder.yieldNow()).not.toBe(turn);
});
