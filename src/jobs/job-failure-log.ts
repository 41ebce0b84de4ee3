import { ServiceError } from '../contract/core/error.ts';
import type { LogFields, Logger } from '../contract/core/logger.ts';
import { FailureLog } from '../kit/logging/failure-log.ts';

/**
 * Logs failed runs of one kind. Runs that fail because a dependency is unavailable or full are logged once,
 * with their recovery; other failures are logged each time.
 */
export class JobFailureLog {
  readonly #log: Logger;
  readonly #kind: string;
  readonly #unavailable: FailureLog;

  constructor(log: Logger, kind: string) {
    this.#log = log;
    this.#kind = kind;
    this.#unavailable = new FailureLog(log, 'jobs wait for an unavailable dependency', { kind });
  }

  recordFailure(error: unknown, fields: LogFields): void {
    if (error instanceof ServiceError && error.kind === 'overloaded')
      this.#unavailable.recordFailure(error, fields);
    else this.#log.error('job failed, will be retried', error, { kind: this.#kind, ...fields });
  }

  recordSuccess(): void {
    this.#unavailable.recordSuccess();
  }
}
