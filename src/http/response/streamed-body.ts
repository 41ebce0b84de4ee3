/** Streamed response bodies. */

import { EventLoopYielder } from '../../kit/async/event-loop-yielder.ts';
import { systemClock } from '../../kit/clock.ts';
import { serverOf } from '../transport/connection-server.ts';

/** Seconds without a byte after which the connection of a client that does not read is closed. */
const BODY_IDLE_S = 120;

/**
 * Shared by all bodies. Servers that send faster than this process can work would otherwise occupy the event loop until the
 * buffers of the sockets are full.
 */
const YIELDER = new EventLoopYielder(systemClock);

/** Idle timeout of a connection. It applies to clients that do not read, not to the time that the server computes. */
export interface IdleTimeout {
  /** Call while the server computes the next chunk. */
  suspend(): void;
  /** Call while the client is expected to read. */
  resume(): void;
}

/** The idle timeout of the connection of a request. */
export function idleTimeoutOf(request: Request): IdleTimeout {
  const server = serverOf(request);
  return {
    suspend: () => server?.timeout(request, 0),
    resume: () => server?.timeout(request, BODY_IDLE_S),
  };
}

/** Outcomes of streamed bodies, by request. */
const outcomes = new WeakMap<Request, Promise<'sent' | 'disconnected'>>();

/**
 * The outcome of the streamed body of a request: `sent` when all of it was written, or `disconnected` when the client closed
 * the connection. Rejects with the error of the body's source. Undefined if the response is not streamed.
 */
export function bodyOutcomeOf(request: Request): Promise<'sent' | 'disconnected'> | undefined {
  return outcomes.get(request);
}

/**
 * Creates a body that pulls one chunk at a time, in the async context of this call.
 * @param disconnected is aborted when the client disconnects, since a pull may be waiting for the next chunk. Then
 *   `return()` of `chunks` is called.
 */
export function streamedBody(
  chunks: AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined>,
  disconnected: AbortController,
  request: Request,
): ReadableStream {
  const idleTimeout = idleTimeoutOf(request);
  const end = Promise.withResolvers<'sent' | 'disconnected'>();
  // Not every caller reads the outcome; an unhandled rejection would crash the process.
  end.promise.catch(() => undefined);
  outcomes.set(request, end.promise);
  // The runtime does not cancel a body that was never read.
  request.signal.addEventListener('abort', () => end.resolve('disconnected'), { once: true });
  return new ReadableStream({
    async pull(controller) {
      idleTimeout.suspend();
      try {
        const { done, value } = await chunks.next();
        if (done) {
          controller.close();
          end.resolve('sent');
          return;
        }
        controller.enqueue(value);
        if (YIELDER.isDue(value.length)) await YIELDER.yieldNow();
      } catch (error) {
        end.reject(error);
        throw error;
      } finally {
        idleTimeout.resume();
      }
    },
    async cancel() {
      end.resolve('disconnected');
      disconnected.abort();
      await chunks.return();
    },
  });
}
