/** A stream of one item. */
export async function* once<Item>(item: Item): AsyncGenerator<Item, void, undefined> {
  yield item;
}
