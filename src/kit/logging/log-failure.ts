import { ServiceError } from '../../contract/core/error.ts';
import type { LogFields, Logger } from '../../contract/core/logger.ts';

/**
 * Whether a failed request needs no action by an operator: the request was invalid or not permitted, or the
 * server is overloaded or shutting down. Such failures are not logged as errors, because overload would flood
 * the log.
 */
export function isExpectedError(failure: ServiceError): boolean {
  return failure.status < 500 || failure.kind === 'overloaded';
}

/**
 * Logs a failure that is also returned to the client: as an error, unless {@link isExpectedError}.
 * @param what message of the log line.
 */
export function logFailure(log: Logger, what: string, error: unknown, fields: LogFields): void {
  if (error instanceof ServiceError && isExpectedError(error))
    log.info(what, { ...fields, code: error.code });
  else log.error(what, error, fields);
}
