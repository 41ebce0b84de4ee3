import { expect, it } from 'vitest';
import { prepend } from './prepend.ts';

function source() {
  const seen = { returned: 0 };
  async function* items() {
    try {
      yield 'a';
      yield 'b';
      yield 'c';
    } finally {
      seen.returned += 1;
    }
  }
  return { seen, items: items() };
}

it('yields all items in order', async () => {
  const { seen, items } = source();
  const first = await items.next();
  expect(await Array.fromAsync(prepend(first.value ?? '', items))).toEqual(['a', 'b', 'c']);
  expect(seen.returned).toBe(1);
});

it.each([1, 2])('closes its source when the consumer stops after %i items', async (taken) => {
  const { seen, items } = source();
  const first = await items.next();
  const all = prepend(first.value ?? '', items);
  for (let i = 0; i < taken; i++) await all.next();
  await all.return();
  expect(seen.returned).toBe(1);
});
