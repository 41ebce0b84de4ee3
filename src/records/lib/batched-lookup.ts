/** Keys of one query. */
export const MAX_BATCH = 200;
/** Queries that run concurrently. Two, so that a slow one does not delay every lookup. */
export const MAX_QUERIES = 2;

interface Lookup<Value> {
  readonly key: string;
  readonly resolve: (value: Value | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Combines concurrent lookups into few queries: lookups that arrive while {@link MAX_QUERIES} queries run share the next one.
 * All lookups together use at most two connections.
 * @param findMany values by key; a key without a value is left out.
 * @returns the value of one key, or the error of its query.
 */
export function batchedLookup<Value>(
  findMany: (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>,
): (key: string) => Promise<Value | undefined> {
  const waiting: Lookup<Value>[] = [];
  let queries = 0;

  async function query(batch: readonly Lookup<Value>[]): Promise<void> {
    queries += 1;
    try {
      const values = await findMany(batch.map(({ key }) => key));
      for (const { key, resolve } of batch) resolve(values.get(key));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    queries -= 1;
    startQuery();
  }

  function startQuery(): void {
    if (waiting.length > 0 && queries < MAX_QUERIES) void query(waiting.splice(0, MAX_BATCH));
  }

  return (key) =>
    new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject });
      startQuery();
    });
}
