/**
 * The items of a source until the signal fires, even while an item is being waited for.
 * @throws the signal's reason after an abort; what the source throws.
 */
export async function* untilAborted<T>(
  source: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T, void, undefined> {
  const iterator = source[Symbol.asyncIterator]();
  const gone = Promise.withResolvers<never>();
  // Nobody may be waiting when it fires.
  gone.promise.catch(() => undefined);
  const leave = () => gone.reject(signal.reason);
  signal.addEventListener('abort', leave, { once: true });
  try {
    for (;;) {
      signal.throwIfAborted();
      const { done, value } = await Promise.race([iterator.next(), gone.promise]);
      if (done) return;
      yield value;
    }
  } finally {
    signal.removeEventListener('abort', leave);
    const returned = iterator.return?.();
    // A source that is being waited for cannot end before it has an item.
    if (!signal.aborted) await returned;
    else returned?.catch(() => undefined);
  }
}
