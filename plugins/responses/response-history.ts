/** What a request continues: stored responses, items that it refers to, and its own input. */

import { ServiceError } from '../../src/contract/error.ts';
import type { Id } from '../../src/contract/id.ts';
import type { ResponseStore } from '../../src/contract/response-store.ts';
import type { ChatMessage } from '../../src/contract/text.ts';
import { type ItemPlace, messagesOf } from './response-conversation.ts';
import { type ConversationItem, type InputItem, isReference, storedItem } from './response-input.ts';
import type { ResponseAsk } from './response-model.ts';

/** An item of ours, with the response in which it is. */
const OUTPUT_ID = /^[a-z]+_([0-9a-f]{32})_\d+$/;

/**
 * The conversation that a request asks to continue, and its own items as they are stored.
 * @throws ServiceError `invalid_request` for a chain that cannot be continued and results without a call,
 *   `not_found` for items that are not there.
 */
export async function conversationOf(
  { previous, input, instructions }: ResponseAsk,
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
  for (const [position, item] of given.entries()) {
    const found = isReference(item)
      ? (known.get(item.id) ?? (await storedOutput(item.id, store, organization)))
      : storedItem(item, response, position);
    remember(found);
    items.push(found);
  }
  const places: ItemPlace[] = [
    ...chain.map((item) => ({ item, field: 'previous_response_id' })),
    ...items.map((item, position) => ({ item, field: `input[${position}]` })),
  ];
  return { input: items, messages: messagesOf(instructions, places) };
}

async function storedOutput(
  id: string,
  store: ResponseStore,
  organization: string,
): Promise<ConversationItem> {
  const response = OUTPUT_ID.exec(id)?.[1];
  const stored = response === undefined ? undefined : await store.get(organization, `resp_${response}`);
  const item = stored?.output.find((output) => output.id === id);
  if (item) return item as ConversationItem;
  throw new ServiceError('not_found', `Item with id '${id.slice(0, 100)}' not found.`, { param: 'input' });
}
