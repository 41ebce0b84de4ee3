import { describe, expect, test } from 'vitest';
import { userItem } from '../../../test/harness/conversation-machine.ts';
import {
  type ItemList,
  insertItem,
  MAX_ITEM_CHARACTERS,
  MAX_ITEMS,
  removeItem,
  replaceItem,
} from './item-list.ts';

const idsOf = (items: ItemList | undefined) => items?.map(({ id }) => id);
const ITEMS = ['a', 'b'].map((id) => userItem(id));

describe('an insertion', () => {
  test.each([
    [undefined, ['a', 'b', 'new'], 'b'],
    ['root', ['new', 'a', 'b'], null],
    ['a', ['a', 'new', 'b'], 'a'],
  ])('after %s', (after, ids, previousItemId) => {
    const insertion = insertItem(ITEMS, userItem('new'), after);
    expect(idsOf(insertion?.items)).toEqual(ids);
    expect(insertion?.previousItemId).toBe(previousItemId);
  });

  test('after an unknown item is not possible', () => {
    expect(insertItem(ITEMS, userItem('new'), 'gone')).toBeUndefined();
  });
});

describe('the oldest item is removed', () => {
  const full = Array.from({ length: MAX_ITEMS }, (_, at) => userItem(`item_${at}`));

  test(`beyond ${MAX_ITEMS} items`, () => {
    const { items = [] } = insertItem(full, userItem('new')) ?? {};
    expect(items).toHaveLength(MAX_ITEMS);
    expect([items[0]?.id, items.at(-1)?.id]).toEqual(['item_1', 'new']);
  });

  test('but not the inserted one', () => {
    const { items = [] } = insertItem(full, userItem('new'), 'root') ?? {};
    expect(idsOf(items.slice(0, 2))).toEqual(['new', 'item_1']);
  });

  test('beyond the limit of characters, as often as needed', () => {
    const long = 'x'.repeat(MAX_ITEM_CHARACTERS / 2 - 1000);
    const items = ['a', 'b'].map((id) => userItem(id, long));
    const { items: limited } = insertItem([...ITEMS, ...items], userItem('new', long)) ?? {};
    expect(idsOf(limited)).toEqual(['b', 'new']);
  });
});

test('items are replaced and removed by their id', () => {
  expect(replaceItem(ITEMS, userItem('b', 'Other.'))[1]).toEqual(userItem('b', 'Other.'));
  expect(replaceItem(ITEMS, userItem('gone'))).toBe(ITEMS);
  expect(idsOf(removeItem(ITEMS, 'a'))).toEqual(['b']);
});
