/** Answers that are sent while they are being made. */

import { serverOf } from './connection-server.ts';

/** Seconds without a byte after which a reader that does not take what is there is dropped. */
const BODY_IDLE_S = 120;

/** When a silent connection is closed: it counts against a reader that does not read, not against our work. */
export interface IdleTimeout {
  /** While we work. */
  suspend(): void;
  /** While the other side is to read. */
  resume(): void;
}

/** The idle timeout of the connection that a request came by. */
export function idleTimeoutOf(request: Request): IdleTimeout {
  const server = serverOf(request);
  return {
    suspend: () => server?.timeout(request, 0),
    resume: () => server?.timeout(request, BODY_IDLE_S),
  };
}

/**
 * A body that pulls one chunk at a time, each in the context in which the body was made.
 * @param left aborted when the reader leaves, because a pull may be waiting for the next chunk; then `chunks`
 *   is returned.
 */
export function streamedBody(
  chunks: AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined>,
  left: AbortController,
  idleTimeout: IdleTimeout,
): ReadableStream {
  return new ReadableStream({
    async pull(controller) {
      idleTimeout.suspend();
      const { done, value } = await chunks.next();
      idleTimeout.resume();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      left.abort();
      await chunks.return();
    },
  });
}
