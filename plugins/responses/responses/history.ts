/** Loads the conversation that a request continues: stored responses, referenced items and its own input. */

import { invalidRequest, ServiceError } from '../../../src/contract/core/error.ts';
import type { Id } from '../../../src/contract/core/id.ts';
import type { ChatMessage } from '../../../src/contract/engines/text.ts';
import { type ResponseStore, rejectDuplicateItems } from '../../../src/contract/stores/response-store.ts';
import { type ConversationItem, type InputItem, isReference, storedItem } from './items/input-items.ts';
import { type LocatedItem, toMessages } from './messages.ts';
import type { ResponseParams } from './schema.ts';

/** Maximum number of items of other responses that an input may refer to. Each requires a lookup. */
export const MAX_REFERENCES = 1000;
/** Item id of this service. It contains the id of its response; input items have an `i` before the index. */
const ITEM_ID = /^[a-z]+_([0-9a-f]{32})_i?\d+$/;

/**
 * Returns the messages of the conversation, and the input items of the request in stored form.
 * @throws ServiceError `invalid_request` for a chain that cannot be continued, tool results without a call,
 *   and duplicate ids of items to store; `not_found` for missing items.
 */
export async function loadConversation(
  { previous, input, instructions, store: isStored }: ResponseParams,
  response: Id<'resp_'>,
  store: ResponseStore,
  organization: string,
): Promise<{ readonly input: readonly ConversationItem[]; readonly messages: readonly ChatMessage[] }> {
  // The store returns items unchanged.
  const chain = (
    previous === undefined ? [] : await store.chain(organization, previous)
  ) as readonly ConversationItem[];
  const inputItems: readonly InputItem[] =
    typeof input === 'string' ? [{ role: 'user', content: input }] : input;
  const items: ConversationItem[] = [];
  /** Of several items with the same id, the first one applies, as in the conversation. */
  const itemsById = new Map<string, ConversationItem>();
  const addKnown = (item: ConversationItem) => itemsById.has(item.id) || itemsById.set(item.id, item);
  for (const item of chain) addKnown(item);
  let lookups = 0;
  const resolveReference = (id: string) => {
    lookups += 1;
    if (lookups > MAX_REFERENCES) throw tooManyReferences();
    return loadItem(id, store, organization);
  };
  for (const [position, item] of inputItems.entries()) {
    const resolved = isReference(item)
      ? (itemsById.get(item.id) ?? (await resolveReference(item.id)))
      : storedItem(item, response, position);
    addKnown(resolved);
    items.push(resolved);
  }
  if (isStored) rejectDuplicateItems(items);
  const located: LocatedItem[] = [
    ...chain.map((item) => ({ item, field: 'previous_response_id' })),
    ...items.map((item, position) => ({ item, field: `input[${position}]` })),
  ];
  return { input: items, messages: toMessages(instructions, located) };
}

async function loadItem(id: string, store: ResponseStore, organization: string): Promise<ConversationItem> {
  const response = ITEM_ID.exec(id)?.[1];
  const item = response === undefined ? undefined : await store.item(organization, `resp_${response}`, id);
  if (item) return item as ConversationItem;
  throw new ServiceError('not_found', `Item with id '${id.slice(0, 100)}' not found.`, { param: 'input' });
}

function tooManyReferences() {
  const message = `'input' may refer to at most ${MAX_REFERENCES} items of other responses. Continue from a response with 'previous_response_id' instead.`;
  return invalidRequest(message, 'input', 'invalid_value');
}
