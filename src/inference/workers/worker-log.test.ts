import { expect, onTestFinished, test, vi } from 'vitest';
import { StartError } from '../../contract/core/error.ts';
import { workerLog } from './worker-log.ts';

test('writes lines to standard error, with the message of errors for the operator only', () => {
  const written: string[] = [];
  const stderr = vi
    .spyOn(process.stderr, 'write')
    .mockImplementation((line) => written.push(String(line)) > 0);
  onTestFinished(() => stderr.mockRestore());
  const log = workerLog('Worker');
  log.info('hidden');
  log.warn('a process exited', { restartInMs: 100 });
  log.child({ model: 'x' }).error('failed', new TypeError('private text'));
  log.error('failed to load', new StartError('a file is missing'));
  log.error('failed', 'private text');
  expect(written).toEqual([
    'Worker: a process exited.\n',
    'Worker: failed (TypeError).\n',
    'Worker: failed to load (a file is missing).\n',
    'Worker: failed (string).\n',
  ]);
});
