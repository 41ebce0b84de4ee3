import { StartError } from '../../contract/core/error.ts';
import type { Logger } from '../../contract/core/logger.ts';

/**
 * The log of a worker process that supervises a process itself: lines of standard error, without fields. Only the class of an error
 * is written, because its message may quote the text of a request, and the message of a StartError, which is for the operator.
 */
export function workerLog(name: string): Logger {
  const write = (message: string) => void process.stderr.write(`${name}: ${message}.\n`);
  const log: Logger = {
    info: () => undefined,
    warn: write,
    error: (message, error) => write(`${message} (${reasonOf(error)})`),
    child: () => log,
  };
  return log;
}

function reasonOf(error: unknown): string {
  if (error instanceof StartError) return error.message;
  return error instanceof Error ? error.name : typeof error;
}
