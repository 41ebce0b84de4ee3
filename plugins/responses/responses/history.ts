/** What a request continues: stored responses, items that it refers to, and its own input. */

import { invalidRequest, ServiceError } from '../../../src/contract/core/error.ts';
import type { Id } from '../../../src/contract/core/id.ts';
import type { ChatMessage } from '../../../src/contract/engines/text.ts';
import { type ResponseStore, rejectDuplicateItems } from '../../../src/contract/stores/response-store.ts';
import { type ConversationItem, type InputItem, isReference, storedItem } from './items/input-items.ts';
import { type ItemPlace, messagesOf } from './messages.ts';
import type { ResponseAsk } from './schema.ts';

/** Most items of other responses that one input may refer to: each is looked up by itself. */
export const MAX_REFERENCES = 1000;
/** An item of ours, `i` before those of an input, with the response in which it is. */
const ITEM_ID = /^[a-z]+_([0-9a-f]{32})_i?\d+$/;

/**
 * The conversation that a request asks to continue, and its own items as they are stored.
 * @throws ServiceError `invalid_request` for a chain that cannot be continued, results without a call and items to
 *   store with the same id, `not_found` for items that are not there.
 */
export async function conversationOf(
  { previous, input, instructions, store: isStored }: ResponseAsk,
  response: Id<'response'>,
  store: ResponseStore,
  organization: string,
): Promise<{ readonly input: readonly ConversationItem[]; readonly messages: readonly ChatMessage[] }> {
  // The store keeps items as they were given to it.
  const chain = (
    previous === undefined ? [] : await store.chain(organization, previous)
  ) as readonly ConversationItem[];
  const given: readonly InputItem[] = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
  const items: ConversationItem[] = [];
  /** Of items with the same id the first, as in the conversation. */
  const known = new Map<string, ConversationItem>();
  const remember = (item: ConversationItem) => known.has(item.id) || known.set(item.id, item);
  for (const item of chain) remember(item);
  let lookUps = 0;
  const referred = (id: string) => {
    lookUps += 1;
    if (lookUps > MAX_REFERENCES) throw tooManyReferences();
    return storedItemOf(id, store, organization);
  };
  for (const [position, item] of given.entries()) {
    const found = isReference(item)
      ? (known.get(item.id) ?? (await referred(item.id)))
      : storedItem(item, response, position);
    remember(found);
    items.push(found);
  }
  if (isStored) rejectDuplicateItems(items);
  const places: ItemPlace[] = [
    ...chain.map((item) => ({ item, field: 'previous_response_id' })),
    ...items.map((item, position) => ({ item, field: `input[${position}]` })),
  ];
  return { input: items, messages: messagesOf(instructions, places) };
}

async function storedItemOf(
  id: string,
  store: ResponseStore,
  organization: string,
): Promise<ConversationItem> {
  const response = ITEM_ID.exec(id)?.[1];
  const item = response === undefined ? undefined : await store.item(organization, `resp_${response}`, id);
  if (item) return item as ConversationItem;
  throw new ServiceError('not_found', `Item with id '${id.slice(0, 100)}' not found.`, { param: 'input' });
}

function tooManyReferences() {
  const message = `'input' may refer to at most ${MAX_REFERENCES} items of other responses. Continue from a response with 'previous_response_id' instead.`;
  return invalidRequest(message, 'input', 'invalid_value');
}
