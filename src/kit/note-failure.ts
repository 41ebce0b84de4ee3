import { ServiceError } from '../contract/error.ts';
import type { LogFields, Logger } from '../contract/logger.ts';

/**
 * Tells the log of work that failed and whose caller is told why. An error is only what somebody here can mend: not what
 * the caller did or may not do, nor that there is too much to do, of which a crowd would fill the log.
 * @param what failed: the message of its line.
 */
export function noteFailure(log: Logger, what: string, error: unknown, fields: LogFields): void {
  const isRefusal = error instanceof ServiceError && (error.status < 500 || error.kind === 'overloaded');
  if (isRefusal) log.info(what, { ...fields, code: error.code });
  else log.error(what, error, fields);
}
