import { expect, it } from 'vitest';
import { LinePace } from './concurrency.ts';

/** Plays ends of attempts that begin right before: `+` a success, `-` a refusal. */
function limitAfter(ends: string, most = 64): number {
  const pace = new LinePace(most);
  for (const end of ends) {
    const attempt = pace.begin();
    if (end === '+') pace.succeeded(attempt);
    else pace.refused(attempt);
  }
  return pace.limit;
}

it.each([
  ['', 8],
  ['++++', 12],
  ['+'.repeat(56), 64],
  ['+'.repeat(500), 64],
  ['-', 4],
  ['--', 2],
  ['---', 1],
  ['------', 1],
  // After a refusal, as many successes as may run let one more.
  [`-${'+'.repeat(4)}`, 4],
  [`-${'+'.repeat(5)}`, 5],
  [`---${'+'.repeat(1)}`, 2],
  [`---${'+'.repeat(4)}`, 3],
  [`${'+'.repeat(24)}-`, 16],
])('after %j so many run at once: %d', (ends, limit) => {
  expect(limitAfter(ends)).toBe(limit);
});

it('never lets more run than may', () => {
  expect(limitAfter('', 3)).toBe(3);
  expect(limitAfter('+++++', 3)).toBe(3);
});

it('halves once for all that were running together', () => {
  const pace = new LinePace(64);
  const together = Array.from({ length: 8 }, () => pace.begin());
  for (const attempt of together) pace.refused(attempt);
  expect(pace.limit).toBe(4);
  pace.refused(pace.begin());
  expect(pace.limit).toBe(2);
});

it('does not rise by what began before it was halved', () => {
  const pace = new LinePace(64);
  const [refused = 0, ...others] = Array.from({ length: 60 }, () => pace.begin());
  pace.refused(refused);
  for (const attempt of others) pace.succeeded(attempt);
  expect(pace.limit).toBe(4);
});
