import { type DestinationStream, type Logger as Pino, pino } from 'pino';
import { ServiceError, StartError } from '../../contract/core/error.ts';
import type { LogFields, Logger } from '../../contract/core/logger.ts';

/** A logger that owns its output. */
export interface RootLogger extends Logger {
  /** Writes what is still held back; later lines are dropped. Wait for it before the process ends. */
  close(): Promise<void>;
}

/** Where lines go, and how to see the last of them through. */
export interface LogDestination extends DestinationStream {
  close(): Promise<void>;
}

/** A logger that writes one JSON object a line: `level`, `time` (ISO), the fields, `msg`. */
export function jsonLogger(level: string, destination: LogDestination = standardOutput()): RootLogger {
  const root = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
  return Object.assign(wrap(root), { close: () => destination.close() });
}

/** How long the end of the process waits for a reader of the log that does not read. */
const LAST_LINES_MS = 1000;

/** Writes without holding up the serving thread, so the last lines must be waited for. */
function standardOutput(): LogDestination {
  const stream = pino.destination({ fd: 1, sync: false });
  let closed: Promise<void> | undefined;
  return {
    write(line) {
      if (closed === undefined) stream.write(line);
    },
    close() {
      closed ??= Promise.race([
        new Promise<void>((resolve) => {
          stream.once('close', resolve);
          stream.end();
        }),
        Bun.sleep(LAST_LINES_MS),
      ]);
      return closed;
    },
  };
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
  const fields: ErrorFields = { class: error.name, stack: frames(error) };
  if ('code' in error && typeof error.code === 'string') fields.code = error.code;
  if (error instanceof ServiceError || error instanceof StartError) fields.message = error.message;
  if (error.cause !== undefined && depth < MAX_CAUSES) fields.cause = describeError(error.cause, depth + 1);
  return fields;
}

/** The frames of a stack without its first lines, which repeat the message: one of its lines may look like a frame. */
function frames({ message, stack = '' }: Error): string[] {
  return stack
    .slice(Math.max(0, stack.indexOf(message)) + message.length)
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .map((line) => line.trim());
}
