import { expect, it } from 'vitest';
import { RecordingLogger } from '../../../tools/harness/doubles/recording-logger.ts';
import { FailureLog } from './failure-log.ts';

it('logs the first failure of a series, and the count on recovery', () => {
  const log = new RecordingLogger();
  const failures = new FailureLog(log, 'it could not be done', { kind: 'batch' });
  failures.recordSuccess();
  expect(log.lines).toEqual([]);
  for (const job of ['a', 'b', 'c']) failures.recordFailure(new Error(job), { job });
  expect(log.lines).toMatchObject([
    { level: 'error', message: 'it could not be done', fields: { kind: 'batch', job: 'a' } },
  ]);
  failures.recordSuccess();
  failures.recordSuccess();
  expect(log.lines.slice(1)).toMatchObject([
    { level: 'info', fields: { kind: 'batch', failed: 'it could not be done', times: 3 } },
  ]);
  failures.recordFailure(new Error('again'));
  expect(log.lines).toHaveLength(3);
});
