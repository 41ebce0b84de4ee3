import { type DestinationStream, type Logger as Pino, pino } from 'pino';
import { ServiceError, StartError } from '../../contract/core/error.ts';
import type { LogFields, Logger } from '../../contract/core/logger.ts';
import { asRecordLine } from '../text/record-line.ts';
import { textLine } from './text-line.ts';

/** A logger that owns its output stream. */
export interface RootLogger extends Logger {
  /**
   * Writes a line for people: in a terminal after the lines so far, otherwise to standard error, so that standard output has
   * only JSON.
   */
  announce(line: string): void;
  /** Flushes buffered lines; later lines are dropped. Call it before the process exits. */
  close(): Promise<void>;
}

/** Output of log lines, which is flushed on close. */
export interface LogDestination extends DestinationStream {
  close(): Promise<void>;
}

/** Creates a logger that writes one JSON object per line: `level`, `time` (ISO), the fields, `msg`. */
export function jsonLogger(level: string, destination: LogDestination = standardOutput()): RootLogger {
  return Object.assign(rootOf(level, destination), {
    announce: (line: string) => void process.stderr.write(`${line}\n`),
    close: () => destination.close(),
  });
}

/** Creates a logger for a terminal, which writes readable lines ({@link textLine}). */
export function textLogger(level: string, destination: LogDestination = standardOutput()): RootLogger {
  const textDestination = { write: (line: string) => destination.write(textLine(line)) };
  return Object.assign(rootOf(level, textDestination), {
    announce: (line: string) => destination.write(`${line}\n`),
    close: () => destination.close(),
  });
}

/** A logger whose lines are JSON. */
function rootOf(level: string, destination: DestinationStream): Logger {
  const root = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line) => destination.write(asRecordLine(line)) },
  );
  return wrap(root);
}

/** Time limit for flushing to a blocked reader at exit, in ms. */
const LAST_LINES_MS = 1000;

/**
 * Writes asynchronously, so that logging does not block the main thread. Buffered lines must be flushed at
 * exit.
 */
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

/**
 * Returns the loggable fields of an error. The message of an unknown error is omitted, because it can quote
 * request data.
 */
function describeError(error: unknown, depth = 0): ErrorFields {
  if (!(error instanceof Error)) return { class: typeof error };
  const fields: ErrorFields = { class: error.name, stack: frames(error) };
  if ('code' in error && typeof error.code === 'string') fields.code = error.code;
  if (error instanceof ServiceError || error instanceof StartError) fields.message = error.message;
  if (error.cause !== undefined && depth < MAX_CAUSES) fields.cause = describeError(error.cause, depth + 1);
  return fields;
}

/** Returns the frames of a stack without the message, a line of which could look like a frame. */
function frames({ message, stack = '' }: Error): string[] {
  return stack
    .slice(Math.max(0, stack.indexOf(message)) + message.length)
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .map((line) => line.trim());
}
