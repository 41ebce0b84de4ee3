import type { LogFields, Logger } from '../../contract/core/logger.ts';

/**
 * Tells the log of work that is done again and again when it begins to fail, with the reason, and when it works again. A store
 * that is away for an hour is two lines then, and not hundreds that nobody can do anything about.
 */
export class FailureLog {
  readonly #log: Logger;
  readonly #what: string;
  readonly #fields: LogFields;
  #failures = 0;

  /** @param what fails: the message of its line. */
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
    this.#log.info('works again', { ...this.#fields, failed: this.#what, times: this.#failures });
    this.#failures = 0;
  }
}
