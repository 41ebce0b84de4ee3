import type { Subprocess } from 'bun';

/**
 * Sends a message to a child process, unless it is gone. Its channel may be closed for a while before its exit is
 * known; whoever waits for an answer is told by the exit, so nothing is lost with the message.
 * @throws DataCloneError for what is no plain data.
 */
export function sendToChild(child: Subprocess, message: unknown): void {
  if (child.exitCode !== null || child.signalCode !== null) return;
  try {
    child.send(message);
  } catch (error) {
    const closed = error instanceof Error && 'code' in error && error.code === 'ERR_IPC_CHANNEL_CLOSED';
    if (!closed) throw error;
  }
}
