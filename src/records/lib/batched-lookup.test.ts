import { expect, test } from 'vitest';
import { batchedLookup, MAX_BATCH, MAX_QUERIES } from './batched-lookup.ts';

/** A lookup whose queries are completed by the test. The value of a key that starts with `k` is the key. */
function setUp() {
  const queries: { readonly keys: readonly string[]; end(error?: Error): void }[] = [];
  const find = batchedLookup<string>((keys) => {
    const { promise, resolve, reject } = Promise.withResolvers<ReadonlyMap<string, string>>();
    const values = keys.flatMap((key) => (key.startsWith('k') ? [[key, key] as const] : []));
    queries.push({ keys, end: (error) => (error ? reject(error) : resolve(new Map(values))) });
    return promise;
  });
  return { queries, find };
}

const numbered = (count: number) => Array.from({ length: count }, (_, at) => `k${at}`);

test('one lookup is one query', async () => {
  const { queries, find } = setUp();
  const found = find('k');
  queries[0]?.end();
  expect(await found).toBe('k');
  const missing = find('x');
  queries[1]?.end();
  expect(await missing).toBeUndefined();
  expect(queries.map(({ keys }) => keys)).toEqual([['k'], ['x']]);
});

test('lookups that arrive during the queries share the next one', async () => {
  const { queries, find } = setUp();
  const keys = numbered(MAX_QUERIES + 5);
  const found = Promise.all(keys.map(find));
  expect(queries).toHaveLength(MAX_QUERIES);
  for (const { end } of [...queries]) end();
  await expect.poll(() => queries.length).toBe(MAX_QUERIES + 1);
  expect(queries.at(-1)?.keys).toEqual(keys.slice(MAX_QUERIES));
  queries.at(-1)?.end();
  expect(await found).toEqual(keys);
});

test('a query has a bounded number of keys, and no more queries run concurrently', async () => {
  const { queries, find } = setUp();
  const keys = numbered(MAX_QUERIES + 3 * MAX_BATCH);
  const found = Promise.all(keys.map(find));
  for (let ended = 0; ended < MAX_QUERIES + 3; ended += 1) {
    await expect.poll(() => queries.length).toBeGreaterThan(ended);
    expect(queries.length - ended).toBeLessThanOrEqual(MAX_QUERIES);
    queries[ended]?.end();
  }
  expect(await found).toEqual(keys);
  expect(queries).toHaveLength(MAX_QUERIES + 3);
  expect(queries.every(({ keys: { length } }) => length <= MAX_BATCH)).toBe(true);
});

test('a failed query fails its own lookups', async () => {
  const { queries, find } = setUp();
  const failing = find('k1');
  const other = find('k2');
  const later = find('k3');
  queries[0]?.end(new Error('connection lost'));
  await expect(failing).rejects.toThrow('connection lost');
  await expect.poll(() => queries.length).toBe(3);
  queries[1]?.end();
  queries[2]?.end();
  expect(await Promise.all([other, later])).toEqual(['k2', 'k3']);
});
