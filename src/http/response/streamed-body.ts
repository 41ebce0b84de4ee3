/** Answers that are sent while they are being made. */

import { serverOf } from '../transport/connection-server.ts';

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

/** Ends of bodies, by the requests that they answer. */
const ends = new WeakMap<Request, Promise<'sent' | 'left'>>();

/**
 * How the body that answers a request ends: all of it was handed over, or its reader left. Rejects with what its maker threw.
 * Undefined for an answer that was made before it was sent.
 */
export function bodyEndOf(request: Request): Promise<'sent' | 'left'> | undefined {
  return ends.get(request);
}

/**
 * A body that pulls one chunk at a time, each in the context in which the body was made.
 * @param left aborted when the reader leaves, because a pull may be waiting for the next chunk; then `chunks`
 *   is returned.
 */
export function streamedBody(
  chunks: AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined>,
  left: AbortController,
  request: Request,
): ReadableStream {
  const idleTimeout = idleTimeoutOf(request);
  const end = Promise.withResolvers<'sent' | 'left'>();
  // Where nobody asks for it.
  end.promise.catch(() => undefined);
  ends.set(request, end.promise);
  // One that is never read is not cancelled either.
  request.signal.addEventListener('abort', () => end.resolve('left'), { once: true });
  return new ReadableStream({
    async pull(controller) {
      idleTimeout.suspend();
      try {
        const { done, value } = await chunks.next();
        if (done) {
          controller.close();
          end.resolve('sent');
        } else controller.enqueue(value);
      } catch (error) {
        end.reject(error);
        throw error;
      } finally {
        idleTimeout.resume();
      }
    },
    async cancel() {
      end.resolve('left');
      left.abort();
      await chunks.return();
    },
  });
}
