import { ServiceError } from '../../contract/core/error.ts';

/** Error codes of a full disk or an exhausted user quota. */
const DISK_FULL_CODES: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);
/** Space becomes available when other requests finish or an operator frees some. */
const DISK_FULL_RETRY_AFTER_S = 30;

/** Converts the error of a full disk to a ServiceError; returns other errors unchanged. */
export function toDiskError(error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error && DISK_FULL_CODES.has(error.code))) return error;
  return new ServiceError('overloaded', 'Server storage is full. Retry later.', {
    code: 'server_overloaded',
    retryAfterS: DISK_FULL_RETRY_AFTER_S,
    cause: error,
  });
}
