/**
 * Structured log. A line is a fixed message plus fields. Text, transcripts, audio and keys are never in
 * either (contract: "never reach the log").
 */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

export interface Logger {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  /** `error` gives its class, code and stack frames; its message only when it is a ServiceError. */
  error(message: string, error: unknown, fields?: LogFields): void;
  child(fields: LogFields): Logger;
}
