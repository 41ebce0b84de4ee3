import type { LogFields, Logger } from '../../../src/contract/core/logger.ts';

export interface RecordedLine {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: LogFields;
  readonly error?: unknown;
}

/** A logger that stores its lines for assertions. */
export class RecordingLogger implements Logger {
  readonly lines: RecordedLine[];
  readonly #bound: LogFields;

  constructor(lines: RecordedLine[] = [], bound: LogFields = {}) {
    this.lines = lines;
    this.#bound = bound;
  }

  info(message: string, fields: LogFields = {}): void {
    this.lines.push({ level: 'info', message, fields: { ...this.#bound, ...fields } });
  }

  warn(message: string, fields: LogFields = {}): void {
    this.lines.push({ level: 'warn', message, fields: { ...this.#bound, ...fields } });
  }

  error(message: string, error: unknown, fields: LogFields = {}): void {
    this.lines.push({ level: 'error', message, fields: { ...this.#bound, ...fields }, error });
  }

  child(fields: LogFields): Logger {
    return new RecordingLogger(this.lines, { ...this.#bound, ...fields });
  }
}
