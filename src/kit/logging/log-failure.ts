import { ServiceError } from '../../contract/core/error.ts';
import type { LogFields, Logger } from '../../contract/core/logger.ts';

/**
 * Whether an operator can do nothing about a failed request: the client sent something invalid or not permitted, or the
 * server is overloaded or shutting down. Such failures are not logged as errors, because overload would fill the log.
 */
export function isExpectedError(failure: ServiceError): boolean {
  return failure.status < 500 || failure.kind === 'overloaded';
}

/**
 * Logs a failure that is also reported to the client: as an error, unless it is a refusal.
 * @param what failed: the message of the log line.
 */
export function logFailure(log: Logger, what: string, error: unknown, fields: LogFields): void {
  if (error instanceof ServiceError && isExpectedError(error)) log.info(what, { ...fields, code: error.code });
  else log.error(what, error, fields);
}
