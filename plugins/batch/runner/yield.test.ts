import { expect, it } from 'vitest';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { EventLoopTurns } from './yield.ts';

it('is due once enough time is over, and looks at the clock after some steps only', () => {
  const clock = new ManualClock();
  const turns = new EventLoopTurns(clock);
  clock.advance(4);
  const due = Array.from({ length: 32 }, () => turns.isDue(100));
  expect(due.flatMap((isDue, step) => (isDue ? [step + 1] : []))).toEqual([16, 32]);
});

it('looks at the clock after each step that works on much', async () => {
  const clock = new ManualClock();
  const turns = new EventLoopTurns(clock);
  expect(turns.isDue(300_000)).toBe(false);
  clock.advance(4);
  expect(turns.isDue(100_000)).toBe(false);
  expect(turns.isDue(200_000)).toBe(true);
  await turns.take();
  expect(turns.isDue(300_000)).toBe(false);
});

it('lets others have their turn', async () => {
  const turns = new EventLoopTurns(new ManualClock());
  let others = 0;
  setTimeout(() => {
    others += 1;
  }, 0);
  for (let steps = 0; others === 0 && steps < 1000; steps += 1) await turns.take();
  expect(others).toBe(1);
});
