/** The worker side of a supervised process: loads, then handles messages until the parent process exits. */

import { exitWithParent } from '../../kit/process/child-lifecycle.ts';
import { type FromProcess, type LoadProgress, type ToProcess, toProcessError } from './process-protocol.ts';

export interface ProcessHandlers<Load, Loaded, Received> {
  /**
   * Loads the worker. The result is sent to the serving process. Throws an error whose message is for the operator.
   * @param report sends the progress to the serving process.
   */
  load(load: Load, report: (progress: LoadProgress) => void): Promise<Loaded>;
  /** Handles a message. Called only after the load. An exception terminates the process. */
  receive(message: Received): void;
}

/**
 * Serves a protocol on this process's IPC channel. The entry file of a worker process calls it once.
 * @param name of the process in the line that it prints to standard error when it crashes, such as `Inference process`.
 * @param createHandlers receives the function that sends a message to the serving process.
 */
export function serveProcess<Load, Loaded, Received, Sent>(
  name: string,
  createHandlers: (send: (message: Sent) => void) => ProcessHandlers<Load, Loaded, Received>,
): void {
  const send = (message: FromProcess<Loaded, Sent>) => process.send?.(message);
  const handlers = createHandlers((message) => send({ kind: 'message', message }));
  process.on('message', (message: ToProcess<Load, Received>) => {
    if (message.kind === 'message') {
      handlers.receive(message.message);
      return;
    }
    handlers
      .load(message.load, (progress) => send({ kind: 'loading', ...progress }))
      .then(
        (loaded) => send({ kind: 'loaded', loaded }),
        (error) => send({ kind: 'load-failed', error: toProcessError(error) }),
      );
  });
  exitWithParent();
  // Only the error class is printed: an error message may quote the text of a request.
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      const type = error instanceof Error ? error.constructor.name : typeof error;
      process.stderr.write(`${name} exits: uncaught ${type}.\n`);
      process.exit(1);
    });
  }
  send({ kind: 'up' });
}
