/** An iteration whose first item exists already. Iterating it yields the first item, too. */
export interface Started<Item> extends AsyncGenerator<Item, void, undefined> {
  readonly first: Item;
}

/**
 * Starts an iteration: resolves when its first item exists, so that an earlier error can be reported before the result of the
 * iteration is, for example as an HTTP status. The caller iterates the result or returns it.
 * @returns undefined if the iteration has no items.
 * @throws the error of the iteration before its first item.
 */
export async function started<Item>(
  items: AsyncGenerator<Item, void, undefined>,
): Promise<Started<Item> | undefined> {
  const { done, value: first } = await items.next();
  if (done) return undefined;
  let isFirst = true;
  const skipFirst = () => {
    const wasFirst = isFirst;
    isFirst = false;
    return wasFirst;
  };
  const all: Started<Item> = {
    first,
    // Passes the promises of the source on, so that a started iteration costs nothing per item.
    next: () => (skipFirst() ? Promise.resolve({ done: false, value: first }) : items.next()),
    return: () => {
      skipFirst();
      return items.return();
    },
    throw: (error: unknown) => {
      skipFirst();
      return items.throw(error);
    },
    [Symbol.asyncIterator]: () => all,
    async [Symbol.asyncDispose]() {
      await all.return();
    },
  };
  return all;
}
