/** Answers that are sent while they are being made. */

/** The part of the server that knows how long a silent connection may stay. */
export interface ConnectionServer {
  timeout(request: Request, seconds: number): void;
}

/** Seconds without a byte after which a reader that does not take what is there is dropped. */
const BODY_IDLE_S = 120;

/** Says who is waited for from now on: idle time counts against the other side alone. */
export interface Patience {
  whileWeWork(): void;
  whileTheyRead(): void;
}

/** The patience of the connection that a request came by; nothing without a server, as in tests. */
export function patienceWith(request: Request, server: ConnectionServer | null): Patience {
  return {
    whileWeWork: () => server?.timeout(request, 0),
    whileTheyRead: () => server?.timeout(request, BODY_IDLE_S),
  };
}

/**
 * A body that pulls one chunk at a time.
 * @param left aborted when the reader leaves, because a pull may be waiting for the next chunk; then `chunks`
 *   is returned.
 */
export function streamedBody(
  chunks: AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined>,
  left: AbortController,
  patience: Patience,
): ReadableStream {
  return new ReadableStream({
    async pull(controller) {
      patience.whileWeWork();
      const { done, value } = await chunks.next();
      patience.whileTheyRead();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      left.abort();
      await chunks.return();
    },
  });
}

/** The same run again, with its first item that was already taken. */
export async function* startingWith<T>(
  first: T,
  rest: AsyncGenerator<T, void, undefined>,
): AsyncGenerator<T, void, undefined> {
  try {
    yield first;
    yield* rest;
  } finally {
    await rest.return();
  }
}
