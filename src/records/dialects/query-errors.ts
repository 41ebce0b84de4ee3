import { SQLiteError } from 'bun:sqlite';
import { ServiceError } from '../../contract/core/error.ts';
import { isStorageFull, storageFull } from '../../kit/storage/disk-errors.ts';

const RETRY_AFTER_S = 1;

/** Socket error codes of an unreachable server (libuv, and codes of Bun). */
const LOST_SERVER =
  /^(ECONN\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|ENOTFOUND|EAI_AGAIN|ENOENT|ERR_SOCKET_CLOSED)$/;
/** Messages of errors for which the client library has no code: pool exhausted, connect timeout, connection closed. */
const LOST_CONNECTION = /timeout|terminated|not queryable|closed/i;
/**
 * SQLSTATE of transient errors (PostgreSQL, appendix A): connection exceptions (08), transaction rollbacks (40),
 * insufficient resources (53), unavailable locks (55P03), cancelled queries and server shutdown or startup (57).
 */
const TRANSIENT_SQLSTATE = /^(08\w{3}|40\w{3}|53\w{3}|55P03|57014|57P\w\w)$/;
/** Transient errors of SQLite: locked file, I/O error. The database stays unchanged. */
const TRANSIENT_SQLITE_CODE = /^SQLITE_(BUSY|IOERR)/;
const SQLSTATE = /^[0-9A-Z]{5}$/;

/**
 * Converts an error of a query to an error that may be sent to the caller: `overloaded` for a full disk and for transient
 * errors, otherwise `internal`. The original error, whose message may quote stored values, becomes the `cause`.
 */
export function toRecordsError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  if (isStorageFull(error)) return storageFull(error);
  if (isTransient(error)) {
    return new ServiceError('overloaded', 'Database unavailable, retry later.', {
      code: 'server_overloaded',
      retryAfterS: RETRY_AFTER_S,
      cause: error,
    });
  }
  return new ServiceError('internal', 'Internal server error: database operation failed.', {
    code: 'server_error',
    cause: error,
  });
}

/** Converts errors of queries. */
export type ErrorConverter = typeof toRecordsError;

/** {@link toRecordsError} with a callback for each error of the database. */
export function withErrorCallback(failed: (error: unknown) => void): ErrorConverter {
  return (error) => {
    if (!(error instanceof ServiceError)) failed(error);
    return toRecordsError(error);
  };
}

function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.every(isTransient);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (error instanceof SQLiteError) return TRANSIENT_SQLITE_CODE.test(code);
  if (SQLSTATE.test(code) && !LOST_SERVER.test(code)) return TRANSIENT_SQLSTATE.test(code);
  return LOST_SERVER.test(code) || LOST_CONNECTION.test(error.message);
}
