import { expect, test } from 'vitest';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { StopSignals } from './stop-signals.ts';

test.each([
  ['one Ctrl-C that arrives three times', [0, 0, 40], ['stop', 'repeated', 'repeated']],
  ['the last moment of the same request', [0, 999], ['stop', 'repeated']],
  ['a second request', [0, 1000], ['stop', 'exit']],
  ['repetitions do not extend the time', [0, 600, 600], ['stop', 'repeated', 'exit']],
])('%s', (_, pausesMs, requests) => {
  const clock = new ManualClock();
  const signals = new StopSignals(clock);
  const received = pausesMs.map((ms) => {
    clock.advance(ms);
    return signals.received();
  });
  expect(received).toEqual(requests);
});
