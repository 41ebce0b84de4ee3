import type { LogFields, Logger } from '../../contract/core/logger.ts';

/**
 * Logs failures of repeated work: the first failure with its reason, and the recovery. A dependency that is
 * unavailable for an hour then causes two log lines instead of hundreds.
 */
export class FailureLog {
  readonly #log: Logger;
  readonly #what: string;
  readonly #fields: LogFields;
  #failures = 0;

  /** @param what message of the failure line. */
  constructor(log: Logger, what: string, fields: LogFields = {}) {
    this.#log = log;
    this.#what = what;
    this.#fields = fields;
  }

  recordFailure(error: unknown, fields: LogFields = {}): void {
    this.#failures += 1;
    if (this.#failures === 1) this.#log.error(this.#what, error, { ...this.#fields, ...fields });
  }

  recordSuccess(): void {
    if (this.#failures === 0) return;
    this.#log.info('recovered', { ...this.#fields, failed: this.#what, times: this.#failures });
    this.#failures = 0;
  }
}
