import { describe, expect, test } from 'vitest';
import { invalidRequest, ServiceError } from '../../contract/core/error.ts';
import { isStorageFull, toDiskError } from './disk-errors.ts';

const coded = (code: string, message = 'private') => Object.assign(new Error(message), { code });
const named = (name: string, httpStatusCode = 403) =>
  Object.assign(new Error('private'), { name, $metadata: { httpStatusCode } });

const FULL: [string, unknown][] = [
  ['a full disk', coded('ENOSPC')],
  ['an exhausted quota', coded('EDQUOT')],
  ['SQLite', coded('SQLITE_FULL')],
  ['the shared memory of SQLite', coded('SQLITE_IOERR_SHMSIZE')],
  ['PostgreSQL', coded('53100')],
  ['MinIO', named('XMinioStorageFull')],
  ['the quota of a MinIO bucket', named('XMinioAdminBucketQuotaExceeded')],
  ['Ceph', named('QuotaExceeded')],
  ['any S3 server', named('SlowDown', 507)],
  ['a cause', new Error('x', { cause: new Error('y', { cause: coded('ENOSPC') }) })],
  ['one of several errors', new AggregateError([coded('ECONNREFUSED'), coded('ENOSPC')])],
];
const cyclic = new Error('x');
cyclic.cause = cyclic;
const OTHER: [string, unknown][] = [
  ['an unreachable server', coded('ECONNREFUSED')],
  ['an I/O error', coded('SQLITE_IOERR_READ')],
  ['too many connections', coded('53300')],
  ['a missing bucket', named('NoSuchBucket', 404)],
  ['a message about it', new Error('ENOSPC')],
  ['a cyclic cause', cyclic],
  ['no error', 'ENOSPC'],
];

describe('a full store', () => {
  test.each(FULL)('is recognized: %s', (_, error) => {
    expect(isStorageFull(error)).toBe(true);
    const converted = toDiskError(error);
    expect(converted).toBeInstanceOf(ServiceError);
    expect(converted).toMatchObject({
      kind: 'overloaded',
      code: 'server_overloaded',
      retryAfterS: 30,
      cause: error,
      message: 'Server storage is full. Retry later.',
    });
    // It is not converted twice.
    expect(toDiskError(converted)).toBe(converted);
  });

  test.each(OTHER)('is not confused with %s', (_, error) => {
    expect(isStorageFull(error)).toBe(false);
    expect(toDiskError(error)).toBe(error);
  });

  test('does not replace an error that was written for the caller', () => {
    const ours = invalidRequest('no');
    expect(toDiskError(ours)).toBe(ours);
  });
});
