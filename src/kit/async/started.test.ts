import { expect, it } from 'vitest';
import { started } from './started.ts';

const why = new Error('why');

function source(items: readonly string[] = ['a', 'b', 'c'], failure?: Error) {
  const seen = { returned: 0, thrown: [] as unknown[] };
  async function* generate() {
    try {
      // Delegation to an array would not pass errors on.
      for (const item of items) yield item;
      if (failure) throw failure;
    } catch (error) {
      seen.thrown.push(error);
      throw error;
    } finally {
      seen.returned += 1;
    }
  }
  return { seen, items: generate() };
}

it('has the first item, and yields all items in order', async () => {
  const { seen, items } = source();
  const all = await started(items);
  expect(all?.first).toBe('a');
  expect(await Array.fromAsync(all ?? [])).toEqual(['a', 'b', 'c']);
  expect(seen.returned).toBe(1);
});

it('is undefined without items', async () => {
  expect(await started(source([]).items)).toBeUndefined();
});

it('throws an error before the first item, and passes later ones on', async () => {
  await expect(started(source([], why).items)).rejects.toBe(why);
  const all = await started(source(['a'], why).items);
  expect((await all?.next())?.value).toBe('a');
  await expect(all?.next()).rejects.toBe(why);
});

it.each([0, 1, 2])('closes its source when the consumer stops after %i items', async (count) => {
  const { seen, items } = source();
  const all = await started(items);
  for (let i = 0; i < count; i++) await all?.next();
  await all?.return();
  expect(seen.returned).toBe(1);
  expect(await all?.next()).toEqual({ done: true, value: undefined });
});

it.each([0, 1])('passes an error that is thrown into it after %i items to its source', async (count) => {
  const { seen, items } = source();
  const all = await started(items);
  for (let i = 0; i < count; i++) await all?.next();
  await expect(all?.throw(why)).rejects.toBe(why);
  expect(seen.thrown).toEqual([why]);
});

it('closes its source when it is disposed', async () => {
  const { seen, items } = source();
  const all = await started(items);
  await all?.[Symbol.asyncDispose]();
  expect(seen.returned).toBe(1);
});
