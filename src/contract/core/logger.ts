/**
 * Structured log. A line is a fixed message plus fields. Neither contains text, transcripts, audio or keys
 * (contract: "never reach the log").
 */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

export interface Logger {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  /**
   * Logs the class, code and stack frames of `error`; its message only if it is a {@link ServiceError},
   * because other messages can contain request data.
   */
  error(message: string, error: unknown, fields?: LogFields): void;
  child(fields: LogFields): Logger;
}
