/** The child's side of a supervised process: loads, then answers messages until the serving process goes away. */

import { exitWithParent } from '../../kit/process/child-lifecycle.ts';
import { type FromProcess, type ToProcess, toProcessError } from './process-protocol.ts';

export interface ProcessHandlers<Load, Loaded, Received> {
  /** Makes ready to work; what it resolves with goes to the serving process. Throws what the operator should read. */
  load(load: Load): Promise<Loaded>;
  /** Takes a message; called only after the load. A throw ends the process. */
  receive(message: Received): void;
}

/**
 * Serves a protocol on this process's IPC channel. To be called once, by the entry file of a child process.
 * @param name begins the one line on standard error when the process ends by itself: `Inference process`.
 * @param handlersOf makes the handlers, given what sends a message to the serving process.
 */
export function serveProcess<Load, Loaded, Received, Sent>(
  name: string,
  handlersOf: (send: (message: Sent) => void) => ProcessHandlers<Load, Loaded, Received>,
): void {
  const send = (message: FromProcess<Loaded, Sent>) => process.send?.(message);
  const handlers = handlersOf((message) => send({ kind: 'message', message }));
  process.on('message', (message: ToProcess<Load, Received>) => {
    if (message.kind === 'message') {
      handlers.receive(message.message);
      return;
    }
    handlers.load(message.load).then(
      (loaded) => send({ kind: 'loaded', loaded }),
      (error) => send({ kind: 'load-failed', fault: toProcessError(error) }),
    );
  });
  exitWithParent();
  // Standard error is not the log: a message, which may quote a text, must not reach it.
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      const what = error instanceof Error ? error.constructor.name : 'something that is no error';
      process.stderr.write(`${name} ends: ${what} was not caught.\n`);
      process.exit(1);
    });
  }
  send({ kind: 'up' });
}
