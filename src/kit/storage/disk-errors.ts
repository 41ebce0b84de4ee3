import { ServiceError } from '../../contract/core/error.ts';

/**
 * Error codes of a store without space: the operating system (disk, user quota), SQLite, PostgreSQL (appendix A), and
 * S3 servers (MinIO, Ceph). SQLite reports a failed extension of its shared memory as an I/O error.
 */
const FULL_CODES: ReadonlySet<unknown> = new Set([
  ...['ENOSPC', 'EDQUOT'],
  ...['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE'],
  '53100',
  ...['XMinioStorageFull', 'XMinioAdminBucketQuotaExceeded', 'QuotaExceeded', 'InsufficientStorage'],
]);
const UNWRITABLE_CODES: ReadonlySet<unknown> = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EISDIR']);
/** HTTP status of an S3 server without space: 507 Insufficient Storage (RFC 4918, 11.5). */
const INSUFFICIENT_STORAGE = 507;
const MAX_CAUSES = 8;
/** Space becomes available when other requests finish or an operator frees some. */
export const STORAGE_FULL_RETRY_S = 30;

/** Whether an operation failed because its store is full: the error, or one of its causes, has such a code. */
export function isStorageFull(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > MAX_CAUSES) return false;
  // The S3 client has the code in `name`.
  if (FULL_CODES.has('code' in error ? error.code : undefined) || FULL_CODES.has(error.name)) return true;
  if (httpStatusOf(error) === INSUFFICIENT_STORAGE) return true;
  if (error instanceof AggregateError && error.errors.some((each) => isStorageFull(each, depth + 1))) {
    return true;
  }
  return isStorageFull(error.cause, depth + 1);
}

/** Whether a folder cannot be created or written because of permissions, its file type or a read-only file system. */
export function isUnwritable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && UNWRITABLE_CODES.has(error.code);
}

/** The error for a request that needs space in a full store. */
export function storageFull(cause: unknown): ServiceError {
  return new ServiceError('overloaded', 'Server storage is full. Retry later.', {
    code: 'server_overloaded',
    retryAfterS: STORAGE_FULL_RETRY_S,
    cause,
  });
}

/** Converts the error of a full store to a ServiceError; returns other errors unchanged. */
export function toDiskError(error: unknown): unknown {
  return !(error instanceof ServiceError) && isStorageFull(error) ? storageFull(error) : error;
}

/** The HTTP status of an error of the S3 client. */
function httpStatusOf(error: Error): unknown {
  const metadata = '$metadata' in error ? error.$metadata : undefined;
  return typeof metadata === 'object' && metadata !== null && 'httpStatusCode' in metadata
    ? metadata.httpStatusCode
    : undefined;
}
