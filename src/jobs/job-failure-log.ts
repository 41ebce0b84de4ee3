import { ServiceError } from '../contract/core/error.ts';
import type { JobKind } from '../contract/core/jobs.ts';
import type { LogFields, Logger } from '../contract/core/logger.ts';
import { FailureLog } from '../kit/logging/failure-log.ts';

/**
 * What the log is told of runs of one kind that failed: of those that something was away or full for, that they begin to fail
 * and that they work again; of any other, each.
 */
export class JobFailureLog {
  readonly #log: Logger;
  readonly #kind: JobKind;
  readonly #waiting: FailureLog;

  constructor(log: Logger, kind: JobKind) {
    this.#log = log;
    this.#kind = kind;
    this.#waiting = new FailureLog(log, 'jobs wait for what is away or full', { kind });
  }

  recordFailure(error: unknown, fields: LogFields): void {
    if (error instanceof ServiceError && error.kind === 'overloaded') this.#waiting.recordFailure(error, fields);
    else this.#log.error('a job failed and will be run again', error, { kind: this.#kind, ...fields });
  }

  recordSuccess(): void {
    this.#waiting.recordSuccess();
  }
}
