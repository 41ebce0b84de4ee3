import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { InvalidKeyThrottle, MAX_SENDERS } from './invalid-key-throttle.ts';

const THROTTLED = { kind: 'rate_limited', code: 'rate_limit_exceeded' };

function setUp(perMinute = 2) {
  const clock = new ManualClock();
  const throttle = new InvalidKeyThrottle(perMinute, clock);
  /** The error of one invalid key; undefined below the limit. */
  const count = (sender: string): unknown => {
    try {
      throttle.count(sender);
    } catch (error) {
      return error;
    }
    return undefined;
  };
  return { clock, count };
}

describe('invalid keys', () => {
  test('are throttled above the limit, for each sender', () => {
    const { count } = setUp();
    expect([count('one'), count('one')]).toEqual([undefined, undefined]);
    expect(count('one')).toMatchObject(THROTTLED);
    expect(count('other')).toBeUndefined();
  });

  test('are counted per minute, and the error states the time until the next one', () => {
    const { clock, count } = setUp(1);
    count('one');
    clock.advance(45_000);
    expect(count('one')).toMatchObject({ ...THROTTLED, retryAfterS: 15 });
    clock.advance(15_000);
    expect(count('one')).toBeUndefined();
    expect(count('one')).toMatchObject({ ...THROTTLED, retryAfterS: 60 });
  });

  test('are counted for a bounded number of senders, of which the first is dropped', () => {
    const { count } = setUp(1);
    for (let at = 0; at < MAX_SENDERS; at += 1) count(`sender ${at}`);
    expect(count('sender 0')).toMatchObject(THROTTLED);
    expect(count('one more')).toBeUndefined();
    expect(count('sender 1')).toMatchObject(THROTTLED);
    expect(count('sender 0')).toBeUndefined();
  });
});
