/** Items of the conversation: their ids, order, announcements, and requests of the client about them. */

import { type Fields, fieldsOf, same, shown, textAt } from '../rules/trace.ts';
import { mirrorErrors } from './mirror.ts';
import type { Report } from './rules.ts';
import {
  type Announcement,
  type ConversationState,
  type KnownItem,
  knownItem,
  lastItemId,
  type OpenResponse,
  partKind,
  partText,
  type Rules,
  type ServerEvent,
} from './state.ts';

export const itemRules: Rules = (state, event, report) => {
  switch (event.type) {
    case 'conversation.item.added':
      return added(state, event, report);
    case 'conversation.item.done':
      return done(state, event, report);
    case 'conversation.item.retrieved':
      return retrieved(state, fieldsOf(event.fields.item), report);
    case 'conversation.item.deleted':
      return deleted(state, event, report);
    case 'conversation.item.truncated':
      return truncated(state, event, report);
    default:
      return state;
  }
};

/** Checks that an announced event follows immediately. */
export function checkAnnouncement(state: ConversationState, type: string, report: Report): ConversationState {
  const { announcement } = state;
  if (announcement === undefined) return state;
  const { next, itemId } = announcement;
  const expected = next === 'committed' ? 'input_audio_buffer.committed' : `conversation.item.${next}`;
  if (type === expected) return state;
  report('item-announced', `${expected} of ${itemId} must follow, not ${type}`);
  return { ...state, announcement: undefined };
}

/** Records the id of an item of the server, which must be unused. */
export function newItem(state: ConversationState, id: unknown, report: Report): ConversationState {
  if (typeof id !== 'string' || !id.startsWith('item_')) {
    report('item-new', `the id of an item begins with item_; ${shown(id)} does not`);
    return state;
  }
  if (state.itemIds.has(id)) report('item-new', `${shown(id)} already names an item`);
  return { ...state, itemIds: state.itemIds.with(id) };
}

function added(
  state: ConversationState,
  { fields, request }: ServerEvent,
  report: Report,
): ConversationState {
  const item = fieldsOf(fields.item);
  const id = textAt(item, 'id') ?? '';
  const previous = fields.previous_item_id;
  const { announcement } = state;
  if (announcement !== undefined) {
    announcedItem(announcement, fields, report);
    const isDoneNext = announcement.isComplete && state.names === 'ga';
    return {
      ...insert(isDoneNext ? state : afterAnnouncement(state, announcement), item, previous, report),
      announcement: isDoneNext ? { ...announcement, next: 'done', item } : undefined,
    };
  }
  if (request !== undefined) {
    for (const error of mirrorErrors(fieldsOf(request.frame.item), item)) report('item-mirror', error);
    if (knownItem(state, id) !== undefined) report('item-new', `${shown(id)} already names an item`);
    if (item.status !== 'completed') report('item-shape', `the item ${id} of the client must be completed`);
  }
  const isComplete = state.names === 'ga';
  return {
    ...insert(state, item, previous, report),
    itemIds: state.itemIds.with(id),
    announcement: isComplete
      ? {
          itemId: id,
          previousItemId: typeof previous === 'string' ? previous : null,
          next: 'done',
          isComplete,
          item,
          transcript: undefined,
        }
      : undefined,
  };
}

/** Inserts an item behind the previous one. */
function insert(
  state: ConversationState,
  item: Fields,
  previous: unknown,
  report: Report,
): ConversationState {
  const index = previous === null ? 0 : state.items.findLastIndex(({ id }) => id === previous) + 1;
  if (previous !== null && index === 0) {
    report('item-chain', `previous_item_id ${shown(previous)} names no item`);
  }
  const id = textAt(item, 'id') ?? '';
  return { ...state, items: state.items.toSpliced(index, 0, { id, item, words: undefined }) };
}

function announcedItem(expected: Announcement, fields: Fields, report: Report): void {
  const item = fieldsOf(fields.item);
  if (item.id !== expected.itemId) {
    report('item-announced', `the item must be ${expected.itemId}, not ${shown(item.id)}`);
  }
  if (fields.previous_item_id !== expected.previousItemId) {
    report(
      'item-chain',
      `previous_item_id must be ${shown(expected.previousItemId)}, not ${shown(fields.previous_item_id)}`,
    );
  }
  if (expected.item !== undefined && !same(expected.item, item)) {
    report('item-shape', `the item ${expected.itemId} differs from its event before`);
  }
  if (expected.transcript === undefined) return;
  const audio = [{ type: 'input_audio', transcript: expected.transcript }];
  if (item.role !== 'user' || item.status !== 'completed' || !same(item.content, audio)) {
    report('item-shape', `the item of a turn must be ${shown(audio)}, not ${shown(item.content)}`);
  }
}

function done(state: ConversationState, { fields }: ServerEvent, report: Report): ConversationState {
  const { announcement } = state;
  if (announcement !== undefined) {
    announcedItem(announcement, fields, report);
    return { ...afterAnnouncement(state, announcement), announcement: undefined };
  }
  const item = fieldsOf(fields.item);
  const id = textAt(item, 'id') ?? '';
  const response = state.responses.find((each) => each.outputs.some(({ itemId }) => itemId === id));
  if (response === undefined) {
    report('item-announced', `conversation.item.done of ${shown(id)} follows no item of a response`);
  } else if (response.isOutOfBand) report('out-of-band', `conversation.item.done of ${shown(id)}`);
  if (knownItem(state, id) === undefined) report('item-known', `${shown(id)} is not in the conversation`);
  return withItem(state, item);
}

/** A response follows the item of an idle timeout. */
function afterAnnouncement(state: ConversationState, { transcript }: Announcement): ConversationState {
  return transcript === '' ? { ...state, permittedAt: state.events } : state;
}

function withItem(state: ConversationState, item: Fields): ConversationState {
  const index = state.items.findLastIndex(({ id }) => id === item.id);
  const known = state.items[index];
  return known === undefined ? state : { ...state, items: state.items.with(index, { ...known, item }) };
}

/** The words of a finished item. */
export function withWords(state: ConversationState, itemId: string, words: string): ConversationState {
  const items = state.items.map((each) => (each.id === itemId ? { ...each, words } : each));
  return { ...state, items };
}

/** The transcript of a committed turn becomes a part of its item. */
export function withTranscript(
  state: ConversationState,
  itemId: string,
  transcript: unknown,
): ConversationState {
  const known = knownItem(state, itemId)?.item;
  if (known === undefined || !Array.isArray(known.content)) return state;
  const content = known.content.map((part: unknown) =>
    partKind(part) === 'input_audio' ? { ...fieldsOf(part), transcript } : part,
  );
  return withItem(state, { ...known, content });
}

function retrieved(state: ConversationState, item: Fields, report: Report): ConversationState {
  const known = knownItem(state, item.id)?.item;
  if (known === undefined) {
    report('item-known', `${shown(item.id)} is not in the conversation`);
    return state;
  }
  if (!isSameOrShorter(known, item)) {
    report('item-state', `${shown(item.id)} is ${shown(item)}, but was ${shown(known)}`);
  }
  return withItem(state, item);
}

/** Interruptions remove words that were not played from spoken items, without an event. */
function isSameOrShorter(known: Fields, item: Fields): boolean {
  const parts = Array.isArray(known.content) ? known.content : [];
  const shortened = (Array.isArray(item.content) ? item.content : []).map((part: unknown, index) => {
    const whole: unknown = parts[index];
    const isPrefix = String(partText(whole)).startsWith(String(partText(part)));
    return partKind(part) === 'audio' && partKind(whole) === 'audio' && isPrefix ? whole : part;
  });
  return same(known, item.content === undefined ? item : { ...item, content: shortened });
}

function deleted(state: ConversationState, { fields }: ServerEvent, report: Report): ConversationState {
  const index = state.items.findLastIndex(({ id }) => id === fields.item_id);
  if (index === -1) {
    report('item-known', `${shown(fields.item_id)} is not in the conversation`);
    return state;
  }
  return { ...state, items: state.items.toSpliced(index, 1) };
}

function truncated(state: ConversationState, { fields }: ServerEvent, report: Report): ConversationState {
  const known = knownItem(state, fields.item_id)?.item;
  if (known === undefined) report('item-known', `${shown(fields.item_id)} is not in the conversation`);
  else if (known.type !== 'message' || known.role !== 'assistant') {
    report('item-known', `${shown(fields.item_id)} is not a message of the assistant`);
  }
  const responses = state.responses.map((response) => withTruncated(response, fields.item_id));
  // The time of the client replaces the estimate of the server, which may have removed too many words.
  const items = state.items.map((each) => (each.id === fields.item_id ? withAllWords(each) : each));
  return { ...state, responses, items };
}

function withAllWords(known: KnownItem): KnownItem {
  const { item, words } = known;
  if (words === undefined || !Array.isArray(item.content)) return known;
  const content = item.content.map((part: unknown) =>
    partKind(part) === 'audio' ? { ...fieldsOf(part), transcript: words } : part,
  );
  return { ...known, item: { ...item, content } };
}

function withTruncated(response: OpenResponse, itemId: unknown): OpenResponse {
  const outputs = response.outputs.map((each) =>
    each.itemId === itemId ? { ...each, isTruncated: true } : each,
  );
  return { ...response, outputs };
}

/** Announces an item of a response in the conversation. */
export function announceOutput(state: ConversationState, item: Fields): ConversationState {
  return {
    ...state,
    announcement: {
      itemId: String(item.id),
      previousItemId: lastItemId(state),
      next: 'added',
      isComplete: false,
      item,
      transcript: undefined,
    },
  };
}

/** Whether an item may have been removed without an event, because the conversation is full. */
export function mayBeRemoved({ items }: ConversationState): boolean {
  return items.length >= 2000;
}
