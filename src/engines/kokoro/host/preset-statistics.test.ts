import { expect, onTestFinished, test } from 'vitest';
import { RecordingLogger } from '../../../../tools/harness/doubles/recording-logger.ts';
import { PresetStatistics, type PresetStatisticsOptions } from './preset-statistics.ts';

function start(options: Partial<PresetStatisticsOptions> = {}) {
  const measured: string[] = [];
  const log = new RecordingLogger();
  const statistics = new PresetStatistics({
    names: ['a', 'b', 'c'],
    isMeasured: async (name) => name === 'b',
    async measure(name) {
      measured.push(name);
    },
    log,
    delayMs: 0,
    ...options,
  });
  onTestFinished(() => statistics.close());
  return { statistics, measured, log };
}

test('the voices without statistics are measured in their order', async () => {
  const { measured, log } = start();
  await expect.poll(() => measured).toEqual(['a', 'c']);
  expect(log.lines).toEqual([]);
});

test('nothing is measured before the delay', async () => {
  const { statistics, measured } = start({ delayMs: 2 ** 31 - 1 });
  await statistics.close();
  expect(measured).toEqual([]);
});

test('a failure is logged and ends the work', async () => {
  const { log, measured } = start({ measure: () => Promise.reject(new Error('no process')) });
  await expect.poll(() => log.lines).toMatchObject([{ message: 'preset voice measurement failed' }]);
  expect(measured).toEqual([]);
});

test('close cancels a measurement without a log line', async () => {
  const begun = Promise.withResolvers<void>();
  const { statistics, log } = start({
    measure(_, signal) {
      begun.resolve();
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    },
  });
  await begun.promise;
  await statistics.close();
  await statistics.close();
  expect(log.lines).toEqual([]);
});
