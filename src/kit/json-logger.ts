import { type DestinationStream, type Logger as Pino, pino } from 'pino';
import { ServiceError } from '../contract/error.ts';
import type { LogFields, Logger } from '../contract/logger.ts';

/** A logger that owns its output. */
export interface RootLogger extends Logger {
  /** Writes what is still held back; call it before the process ends. */
  flush(): void;
}

/**
 * A logger that writes one JSON object a line: `level`, `time` (ISO), the fields, `msg`.
 * @param destination where lines go; standard output when absent.
 */
export function jsonLogger(level: string, destination?: DestinationStream): RootLogger {
  const stdout = destination === undefined ? pino.destination({ fd: 1, sync: false }) : undefined;
  const root = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination ?? stdout,
  );
  return Object.assign(wrap(root), { flush: () => stdout?.flushSync() });
}

function wrap(log: Pino): Logger {
  return {
    info: (message, fields) => log.info(fields ?? {}, message),
    warn: (message, fields) => log.warn(fields ?? {}, message),
    error: (message, error, fields) => log.error({ ...fields, error: describeError(error) }, message),
    child: (fields: LogFields) => wrap(log.child(fields)),
  };
}

interface ErrorFields {
  class: string;
  code?: string;
  message?: string;
  stack?: string[];
  cause?: ErrorFields;
}

const MAX_CAUSES = 4;

/** What may be logged of an error: an unknown one's message may quote what a caller sent, so it is left out. */
function describeError(error: unknown, depth = 0): ErrorFields {
  if (!(error instanceof Error)) return { class: typeof error };
  const fields: ErrorFields = { class: error.constructor.name, stack: frames(error.stack) };
  if ('code' in error && typeof error.code === 'string') fields.code = error.code;
  if (error instanceof ServiceError) fields.message = error.message;
  if (error.cause !== undefined && depth < MAX_CAUSES) fields.cause = describeError(error.cause, depth + 1);
  return fields;
}

/** The frames of a stack without its first lines, which repeat the message. */
function frames(stack: string | undefined): string[] {
  return (stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .map((line) => line.trim());
}
