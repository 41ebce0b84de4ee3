import { describe, expect, it } from 'vitest';
import { ServedTime } from './served-time.ts';

const of = (fairnessKey: string, priority: 'realtime' | 'interactive' = 'interactive') => ({
  priority,
  fairnessKey,
});

describe('time used by API keys', () => {
  it('charges a step to its key', () => {
    const served = new ServedTime();
    served.start(of('a'));
    served.finish(of('a'), 300);
    expect(served.usedMs(of('a')) - served.usedMs(of('b'))).toBe(300);
  });

  it('counts a step that took no measurable time, so that keys alternate', () => {
    const served = new ServedTime();
    served.start(of('a'));
    served.finish(of('a'), 0);
    expect(served.usedMs(of('a'))).toBeGreaterThan(served.usedMs(of('b')));
  });

  it('lets a new key start where the least served key is, so that it does not owe or save time', () => {
    const served = new ServedTime();
    for (const key of ['a', 'b', 'a', 'b']) {
      served.start(of(key));
      served.finish(of(key), 100);
    }
    served.start(of('a'));
    expect(served.usedMs(of('new'))).toBe(served.usedMs(of('b')));
  });

  it('keeps an account per priority class', () => {
    const served = new ServedTime();
    served.start(of('a', 'realtime'));
    served.finish(of('a', 'realtime'), 300);
    expect(served.usedMs(of('a'))).toBe(0);
    served.clear('realtime');
    expect(served.usedMs(of('a', 'realtime'))).toBe(0);
  });

  it('charges overlapping steps of a key on several processes', () => {
    const served = new ServedTime();
    served.start(of('a'));
    served.start(of('a'));
    served.finish(of('a'), 100);
    served.finish(of('a'), 100);
    expect(served.usedMs(of('a')) - served.usedMs(of('b'))).toBe(200);
  });
});
