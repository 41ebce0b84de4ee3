/**
 * The items of a source until the signal fires, even while an item is being waited for.
 * @throws the signal's reason after an abort; what the source throws.
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
      // A promise for each item: one that outlived them all would hold on to each wait.
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
    // A source that is being waited for cannot end before it has an item.
    if (signal.aborted) returned?.catch(() => undefined);
    else await returned;
  }
}
