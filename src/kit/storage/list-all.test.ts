import { expect, it } from 'vitest';
import { listAll } from './list-all.ts';

const never = new AbortController().signal;

function pagesOf(count: number) {
  const queries: [limit: number, last: number | undefined][] = [];
  return {
    queries,
    async listPage(limit: number, last?: number): Promise<readonly number[]> {
      queries.push([limit, last]);
      const start = last === undefined ? 0 : last + 1;
      return Array.from({ length: Math.min(limit, count - start) }, (_, at) => start + at);
    },
  };
}

it.each([
  [0, [undefined]],
  [99, [undefined]],
  [100, [undefined, 99]],
  [230, [undefined, 99, 199]],
])('lists %d entries in pages', async (count, lasts) => {
  const { queries, listPage } = pagesOf(count);
  expect(await Array.fromAsync(listAll(listPage, never))).toEqual(
    Array.from({ length: count }, (_, at) => at),
  );
  expect(queries).toEqual(lasts.map((last) => [100, last]));
});

it('throws the reason after an abort, within a page and before a query', async () => {
  const { queries, listPage } = pagesOf(230);
  const abort = new AbortController();
  const seen: number[] = [];
  const list = async () => {
    for await (const entry of listAll(listPage, abort.signal)) {
      seen.push(entry);
      if (entry === 2) abort.abort(new Error('closed'));
    }
  };
  await expect(list()).rejects.toThrow('closed');
  expect(seen).toEqual([0, 1, 2]);
  await expect(list()).rejects.toThrow('closed');
  expect(queries).toHaveLength(1);
});
