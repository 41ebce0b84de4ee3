/** The ordered items of a conversation. Immutable. */

import type { Item } from './item.ts';

/** Maximum number of items. The oldest ones are removed; prompts are limited much earlier, by their tokens. */
export const MAX_ITEMS = 2000;
/** Maximum number of characters of all items as JSON. The oldest items are removed. Images are part of their items. */
export const MAX_ITEM_CHARACTERS = 16 * 1024 * 1024;

export type ItemList = readonly Item[];

/** Result of an insertion. */
export interface Insertion {
  readonly items: ItemList;
  /** Id of the preceding item; null at the start. */
  readonly previousItemId: string | null;
}

export function findItem(items: ItemList, id: string): Item | undefined {
  return items.findLast((item) => item.id === id);
}

/** The function call with an id. */
export function findCall(items: ItemList, callId: string): Item | undefined {
  return items.findLast((item) => item.type === 'function_call' && item.call_id === callId);
}

/**
 * Inserts an item. The oldest other items are removed when a limit is exceeded.
 * @param after id of the preceding item, `root` for the start, undefined for the end.
 * @returns undefined if there is no item `after`.
 */
export function insertItem(items: ItemList, item: Item, after?: string): Insertion | undefined {
  const at = after === undefined ? items.length : after === 'root' ? 0 : indexAfter(items, after);
  if (at === undefined) return undefined;
  const retained = withinLimits(items.toSpliced(at, 0, item), item);
  return { items: retained, previousItemId: items[at - 1]?.id ?? null };
}

/** @param inserted stays, because the reply refers to it. */
function withinLimits(items: ItemList, inserted: Item): ItemList {
  let excessCharacters = items.reduce((sum, item) => sum + charactersOf(item), -MAX_ITEM_CHARACTERS);
  let excessItems = items.length - MAX_ITEMS;
  if (excessCharacters <= 0 && excessItems <= 0) return items;
  return items.filter((item) => {
    if (item === inserted || (excessCharacters <= 0 && excessItems <= 0)) return true;
    excessCharacters -= charactersOf(item);
    excessItems -= 1;
    return false;
  });
}

const CHARACTERS = new WeakMap<Item, number>();

function charactersOf(item: Item): number {
  const known = CHARACTERS.get(item) ?? JSON.stringify(item).length;
  CHARACTERS.set(item, known);
  return known;
}

/** Replaces the item with the same id. Without such an item nothing changes. */
export function replaceItem(items: ItemList, item: Item): ItemList {
  const at = items.findLastIndex(({ id }) => id === item.id);
  return at < 0 ? items : items.with(at, item);
}

export function removeItem(items: ItemList, id: string): ItemList {
  return items.filter((item) => item.id !== id);
}

function indexAfter(items: ItemList, id: string): number | undefined {
  const at = items.findLastIndex((item) => item.id === id);
  return at < 0 ? undefined : at + 1;
}
