/**
 * Yields the items of `source` until the signal fires, even while waiting for an item.
 * @throws the signal's reason after an abort; errors of `source`.
 */
export async function* untilAborted<T>(
  source: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T, void, undefined> {
  signal.throwIfAborted();
  const iterator = source[Symbol.asyncIterator]();
  let stopWaiting: ((reason: unknown) => void) | undefined;
  const leave = () => stopWaiting?.(signal.reason);
  signal.addEventListener('abort', leave, { once: true });
  try {
    for (;;) {
      signal.throwIfAborted();
      // One promise per item: a promise shared by all items would keep a reaction per wait.
      const { promise, resolve, reject } = Promise.withResolvers<IteratorResult<T>>();
      stopWaiting = reject;
      iterator.next().then(resolve, reject);
      const { done, value } = await promise;
      if (done) return;
      yield value;
    }
  } finally {
    signal.removeEventListener('abort', leave);
    const returned = iterator.return?.();
    // A source with a pending `next()` cannot return before it has an item.
    if (signal.aborted) returned?.catch(() => undefined);
    else await returned;
  }
}
