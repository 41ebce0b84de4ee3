import { expect, it } from 'vitest';
import { type ErrorKind, ServiceError } from '../../../src/contract/core/error.ts';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { isTransient, RetryPolicy } from './retry-policy.ts';

const TIMES = { firstMs: 100, maxMs: 1000, giveUpAfterMs: 5000 };
const overloaded = new ServiceError('overloaded', 'full');

function retries(random = 0) {
  const clock = new ManualClock();
  return { clock, retries: new RetryPolicy({ clock, random: () => random, times: TIMES }) };
}

it.each<[ErrorKind, boolean]>([
  ['overloaded', true],
  ['rate_limited', true],
  ['upstream', true],
  ['timeout', true],
  ['insufficient_quota', false],
  ['invalid_request', false],
  ['not_found', false],
  ['internal', false],
])('classifies %s as transient: %s', (kind, passes) => {
  expect(isTransient(new ServiceError(kind, 'x'))).toBe(passes);
});

it('retries a line whose worker crashed', () => {
  expect(isTransient(new ServiceError('internal', 'x', { code: 'worker_crashed' }))).toBe(true);
});

it('doubles the delay after each failure up to a limit, with a jitter of half of it', () => {
  const { retries: minimal } = retries(0);
  const waits = Array.from({ length: 6 }, () => minimal.recordFailure(1, overloaded, false));
  expect(waits).toEqual([50, 100, 200, 400, 500, 500]);
  expect(retries(1).retries.recordFailure(1, overloaded, false)).toBe(100);
});

it('waits at least the requested retry delay, within the limit', () => {
  const { retries: some } = retries();
  expect(some.recordFailure(1, new ServiceError('rate_limited', 'x', { retryAfterS: 0.7 }), false)).toBe(700);
  expect(some.recordFailure(2, new ServiceError('rate_limited', 'x', { retryAfterS: 3600 }), false)).toBe(
    1000,
  );
});

it('gives up after the retry deadline, which starts again after a success', () => {
  const { clock, retries: some } = retries();
  some.recordFailure(1, overloaded, false);
  clock.advance(TIMES.giveUpAfterMs - 1);
  expect(some.recordFailure(1, overloaded, false)).toBeDefined();
  clock.advance(1);
  expect(some.recordFailure(2, overloaded, false)).toBeDefined();
  expect(some.recordFailure(1, overloaded, false)).toBeUndefined();
  some.clearLine(1);
  expect(some.recordFailure(1, overloaded, false)).toBe(50);
});

it('does not retry permanent errors', () => {
  expect(retries().retries.recordFailure(1, new ServiceError('invalid_request', 'x'), false)).toBeUndefined();
});

it('retries missing credits only while its batch has reserved some', () => {
  const { retries: some } = retries();
  const short = new ServiceError('insufficient_quota', 'x');
  expect(some.recordFailure(1, short, true)).toBe(50);
  expect(some.recordFailure(1, short, false)).toBeUndefined();
  expect(some.recordFailure(2, new ServiceError('invalid_request', 'x'), true)).toBeUndefined();
});
