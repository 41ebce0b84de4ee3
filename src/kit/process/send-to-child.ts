import type { Subprocess } from 'bun';

/**
 * Sends a message to a child process, unless it has exited. The channel can be closed shortly before the exit
 * is reported. The message is then dropped, because callers that wait for a reply are notified by the exit.
 * @throws DataCloneError for data that cannot be cloned.
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
