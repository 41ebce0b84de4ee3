import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { MOST_GOOD_KEYS, MOST_SENDERS, WrongKeys } from './wrong-keys.ts';

const REFUSED = { kind: 'rate_limited', code: 'rate_limit_exceeded' };

function setUp(perMinute = 2) {
  const clock = new ManualClock();
  const keys = new WrongKeys(perMinute, clock);
  const wrong = (sender: string, times = 1) => {
    for (let time = 0; time < times; time += 1) keys.wasWrong(sender, `wrong ${time}`);
  };
  return { clock, keys, wrong };
}

function refusal(step: () => void): unknown {
  try {
    step();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('wrong keys', () => {
  test('are looked up as often as is allowed, for each sender', () => {
    const { keys, wrong } = setUp();
    wrong('one');
    keys.admit('one', 'k');
    wrong('one');
    expect(refusal(() => keys.admit('one', 'k'))).toMatchObject(REFUSED);
    keys.admit('other', 'k');
  });

  test('are forgotten after the minute that they came in, and the refusal tells how long that is', () => {
    const { clock, keys, wrong } = setUp();
    wrong('one', 2);
    clock.advance(45_000);
    expect(refusal(() => keys.admit('one', 'k'))).toMatchObject({ ...REFUSED, retryAfterS: 15 });
    clock.advance(15_000);
    keys.admit('one', 'k');
  });

  test('do not stand in the way of a key that was good, until it is not any more', () => {
    const { keys, wrong } = setUp();
    keys.wasGood('good');
    wrong('one', 2);
    keys.admit('one', 'good');
    expect(refusal(() => keys.admit('one', 'new'))).toMatchObject(REFUSED);
    keys.wasWrong('one', 'good');
    expect(refusal(() => keys.admit('one', 'good'))).toMatchObject(REFUSED);
  });

  test('are counted for so many senders, of which the first is forgotten for one more', () => {
    const { keys, wrong } = setUp(1);
    for (let at = 0; at < MOST_SENDERS; at += 1) wrong(`sender ${at}`);
    expect(refusal(() => keys.admit('sender 0', 'k'))).toMatchObject(REFUSED);
    wrong('one more');
    keys.admit('sender 0', 'k');
    expect(refusal(() => keys.admit('sender 1', 'k'))).toMatchObject(REFUSED);
    expect(refusal(() => keys.admit('one more', 'k'))).toMatchObject(REFUSED);
  });

  test('leave so many good ones known, of which the one is forgotten that was not used for longest', () => {
    const { keys, wrong } = setUp(1);
    for (let at = 0; at < MOST_GOOD_KEYS; at += 1) keys.wasGood(`good ${at}`);
    wrong('one');
    keys.wasGood('good 0');
    keys.wasGood('one more');
    for (const known of ['good 0', 'good 2', 'one more']) keys.admit('one', known);
    expect(refusal(() => keys.admit('one', 'good 1'))).toMatchObject(REFUSED);
  });
});
