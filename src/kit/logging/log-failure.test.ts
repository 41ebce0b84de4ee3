import { expect, it } from 'vitest';
import { RecordingLogger } from '../../../tools/harness/doubles/recording-logger.ts';
import { ServiceError } from '../../contract/core/error.ts';
import { logFailure } from './log-failure.ts';

it.each([
  [new ServiceError('not_found', 'No such voice.'), 'info'],
  [new ServiceError('insufficient_quota', 'No credits.', { code: 'insufficient_quota' }), 'info'],
  [new ServiceError('rate_limited', 'Too many.'), 'info'],
  [new ServiceError('overloaded', 'Too much.'), 'info'],
  [new ServiceError('internal', 'It crashed.'), 'error'],
  [new ServiceError('upstream', 'It hung up.'), 'error'],
  [new Error('anything'), 'error'],
])('logs unexpected failures as errors and expected ones as info: %s', (error, level) => {
  const log = new RecordingLogger();
  logFailure(log, 'speech failed', error, { request_id: 'req_1' });
  expect(log.lines).toMatchObject([{ level, message: 'speech failed', fields: { request_id: 'req_1' } }]);
});
