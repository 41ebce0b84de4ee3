import { SQLiteError } from 'bun:sqlite';
import { ServiceError } from '../../contract/core/error.ts';

const RETRY_AFTER_S = 1;

/** What the sockets of a lost or absent server say (libuv, and Bun's own words). */
const LOST_SERVER =
  /^(ECONN\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|ENOTFOUND|EAI_AGAIN|ENOENT|ERR_SOCKET_CLOSED)$/;
/** What the client library says in words only: a full pool, a slow connect, a connection that broke. */
const LOST_CONNECTION = /timeout|terminated|not queryable|closed/i;
/**
 * SQLSTATE of what passes by itself (PostgreSQL, appendix A): connection failures (08), full transactions that
 * may be tried again (40), too few resources (53), locks (55P03), an ended or starting server (57P).
 */
const PASSING_STATE = /^(08\w{3}|40\w{3}|53\w{3}|55P03|57014|57P\w\w)$/;
/** A file that is locked, and a disk that is full or fails: what SQLite keeps then is what it had. */
const PASSING_FILE = /^SQLITE_(BUSY|FULL|IOERR)/;
const SQLSTATE = /^[0-9A-Z]{5}$/;

/**
 * What a caller may know of a failed query: `overloaded` when trying again may help, else `internal`. The
 * engine's own error, whose message may quote stored values, stays its cause.
 */
export function recordsFailure(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  if (isPassing(error)) {
    return new ServiceError(
      'overloaded',
      'The records cannot be reached or take no more now. Send the request again.',
      {
        code: 'server_overloaded',
        retryAfterS: RETRY_AFTER_S,
        cause: error,
      },
    );
  }
  return new ServiceError('internal', 'The server failed to keep its records. It is not your fault.', {
    code: 'server_error',
    cause: error,
  });
}

/** Makes failures of failed queries. */
export type FailureOf = typeof recordsFailure;

/** {@link recordsFailure}, with each failure of the engine told. */
export function toldFailures(failed: () => void): FailureOf {
  return (error) => {
    if (!(error instanceof ServiceError)) failed();
    return recordsFailure(error);
  };
}

function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.every(isPassing);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (error instanceof SQLiteError) return PASSING_FILE.test(code);
  if (SQLSTATE.test(code) && !LOST_SERVER.test(code)) return PASSING_STATE.test(code);
  return LOST_SERVER.test(code) || LOST_CONNECTION.test(error.message);
}
