import { expect, it } from 'vitest';
import { ConcurrencyLimiter } from './concurrency.ts';

/** Simulates attempts that finish immediately: `+` is a success, `-` a rejection. */
function limitAfter(ends: string, max = 64): number {
  const limiter = new ConcurrencyLimiter(max);
  for (const end of ends) {
    const attempt = limiter.startAttempt();
    if (end === '+') limiter.succeeded(attempt);
    else limiter.rejected(attempt);
  }
  return limiter.limit;
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
  // After a rejection, a full window of successes raises the limit by 1.
  [`-${'+'.repeat(4)}`, 4],
  [`-${'+'.repeat(5)}`, 5],
  [`---${'+'.repeat(1)}`, 2],
  [`---${'+'.repeat(4)}`, 3],
  [`${'+'.repeat(24)}-`, 16],
])('after %j the limit is %d', (ends, limit) => {
  expect(limitAfter(ends)).toBe(limit);
});

it('never exceeds the maximum', () => {
  expect(limitAfter('', 3)).toBe(3);
  expect(limitAfter('+++++', 3)).toBe(3);
});

it('halves once for attempts that ran concurrently', () => {
  const limiter = new ConcurrencyLimiter(64);
  const together = Array.from({ length: 8 }, () => limiter.startAttempt());
  for (const attempt of together) limiter.rejected(attempt);
  expect(limiter.limit).toBe(4);
  limiter.rejected(limiter.startAttempt());
  expect(limiter.limit).toBe(2);
});

it('ignores successes of attempts that started before the limit was halved', () => {
  const limiter = new ConcurrencyLimiter(64);
  const [firstAttempt = 0, ...others] = Array.from({ length: 60 }, () => limiter.startAttempt());
  limiter.rejected(firstAttempt);
  for (const attempt of others) limiter.succeeded(attempt);
  expect(limiter.limit).toBe(4);
});
