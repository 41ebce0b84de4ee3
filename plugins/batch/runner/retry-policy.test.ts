import { expect, it } from 'vitest';
import { type ErrorKind, ServiceError } from '../../../src/contract/core/error.ts';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { isTransient, LineRetries } from './retry-policy.ts';

const TIMES = { firstMs: 100, maxMs: 1000, givenUpAfterMs: 5000 };
const overloaded = new ServiceError('overloaded', 'full');

function retries(random = 0) {
  const clock = new ManualClock();
  return { clock, retries: new LineRetries({ clock, random: () => random, times: TIMES }) };
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
])('knows whether %s passes: %s', (kind, passes) => {
  expect(isTransient(new ServiceError(kind, 'x'))).toBe(passes);
});

it('tries a line again whose process died', () => {
  expect(isTransient(new ServiceError('internal', 'x', { code: 'worker_crashed' }))).toBe(true);
});

it('waits twice as long after each failure, up to a limit, with jitter of half of it', () => {
  const { retries: least } = retries(0);
  const waits = Array.from({ length: 6 }, () => least.failed(1, overloaded, false));
  expect(waits).toEqual([50, 100, 200, 400, 500, 500]);
  expect(retries(1).retries.failed(1, overloaded, false)).toBe(100);
});

it('waits at least as long as the failure asks for, within the limit', () => {
  const { retries: some } = retries();
  expect(some.failed(1, new ServiceError('rate_limited', 'x', { retryAfterS: 0.7 }), false)).toBe(700);
  expect(some.failed(2, new ServiceError('rate_limited', 'x', { retryAfterS: 3600 }), false)).toBe(1000);
});

it('gives up once a line has failed for long, and begins anew when it has not', () => {
  const { clock, retries: some } = retries();
  some.failed(1, overloaded, false);
  clock.advance(TIMES.givenUpAfterMs - 1);
  expect(some.failed(1, overloaded, false)).toBeDefined();
  clock.advance(1);
  expect(some.failed(2, overloaded, false)).toBeDefined();
  expect(some.failed(1, overloaded, false)).toBeUndefined();
  some.forget(1);
  expect(some.failed(1, overloaded, false)).toBe(50);
});

it('does not try again what cannot pass', () => {
  expect(retries().retries.failed(1, new ServiceError('invalid_request', 'x'), false)).toBeUndefined();
});

it('waits for credits only while its batch holds some', () => {
  const { retries: some } = retries();
  const short = new ServiceError('insufficient_quota', 'x');
  expect(some.failed(1, short, true)).toBe(50);
  expect(some.failed(1, short, false)).toBeUndefined();
  expect(some.failed(2, new ServiceError('invalid_request', 'x'), true)).toBeUndefined();
});
