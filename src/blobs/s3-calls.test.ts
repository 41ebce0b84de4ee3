import { S3ServiceException } from '@aws-sdk/client-s3';
import { expect, test } from 'vitest';
import { toStorageError } from './s3-calls.ts';

const answer = (name: string, httpStatusCode: number) =>
  new S3ServiceException({ name, $fault: 'server', $metadata: { httpStatusCode }, message: 'private' });

test.each([
  ['XMinioStorageFull', 507, 'Server storage is full. Retry later.', 30],
  ['QuotaExceeded', 403, 'Server storage is full. Retry later.', 30],
  ['SlowDown', 503, 'File storage unavailable, retry later.', 5],
  ['AccessDenied', 403, 'Internal server error: file storage failed.', undefined],
])('the answer %s (%d) becomes: %s', (name, status, message, retryAfterS) => {
  expect(toStorageError(answer(name, status))).toMatchObject({ message, retryAfterS });
});
