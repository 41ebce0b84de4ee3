/** Items: new ids, the chain, echoed client items, and which events announce them (openai-wire 8.2, 8.5, 8.6). */

import type { ClientRequest } from './client-requests.ts';
import { mirrorErrors, previousOf } from './mirror.ts';
import type { Report } from './rules.ts';
import type { ServerFrame, State } from './state.ts';
import { at, type Fields, fieldsOf, shown, textAt } from './trace.ts';

/** Number of items that the session stores (spec 8). */
const MAX_ITEMS = 64;

export function itemRules(state: State, event: ServerFrame, report: Report): State {
  const next = checkAnnouncement(state, event, report);
  switch (event.type) {
    case 'input_audio_buffer.speech_started':
      return newItem(next, event.fields.item_id, false, report);
    case 'input_audio_buffer.committed':
      return committed(next, event, report);
    case 'conversation.item.created':
      return created(next, event, report);
    default:
      return next;
  }
}

/** Records a new item id, which must be unused. */
export function newItem(state: State, id: unknown, ofClient: boolean, report: Report): State {
  if (typeof id !== 'string' || id === '') {
    report('field-shape', `the id of an item must be a text, not ${shown(id)}`);
    return state;
  }
  if (!ofClient && !id.startsWith('item_'))
    report('id-prefix', `the id of an item begins with item_; ${shown(id)} does not`);
  // A client may reuse an id when the session no longer stores its item.
  if (state.itemIds.has(id) && !(ofClient && state.itemIds.size >= MAX_ITEMS)) {
    report('item-new', `${shown(id)} already names an item`);
  }
  return { ...state, itemIds: state.itemIds.with(id) };
}

/** The item id of a detected turn was recorded at its start. */
function committed(state: State, event: ServerFrame, report: Report): State {
  const { item_id, previous_item_id } = event.fields;
  const next = state.turn?.itemId === item_id ? state : newItem(state, item_id, false, report);
  chained(next, previous_item_id, next.lastItemId, report);
  return announce({ ...next, lastItemId: String(item_id) }, item_id, previous_item_id);
}

function created(state: State, event: ServerFrame, report: Report): State {
  const { item, previous_item_id } = event.fields;
  const fields = fieldsOf(item);
  const { repliesTo } = event;
  const next = newItem(state, fields.id, at(repliesTo?.frame, 'item.id') === fields.id, report);
  chained(next, previous_item_id, previousOf(repliesTo?.frame ?? {}, next.lastItemId), report);
  if (repliesTo !== undefined) mirrored(repliesTo, fields, report);
  const atEnd = previous_item_id === next.lastItemId;
  return announce(atEnd ? { ...next, lastItemId: String(fields.id) } : next, fields.id, previous_item_id);
}

function chained(state: State, previous: unknown, expected: unknown, report: Report): void {
  if (previous !== expected) {
    report('item-chain', `previous_item_id must be ${shown(expected)}, not ${shown(previous)}`);
  } else if (typeof previous === 'string' && !state.itemIds.has(previous)) {
    report('item-chain', `previous_item_id ${shown(previous)} names no item`);
  }
}

/** Checks the returned copy of a client item. */
function mirrored(request: ClientRequest, item: Fields, report: Report): void {
  if (item.object !== 'realtime.item') report('item-shape', 'item.object must be "realtime.item"');
  for (const error of mirrorErrors(fieldsOf(request.frame.item), item)) report('item-mirror', error);
  if (Object.values(item).includes(null)) report('item-shape', 'a field of an item is left out, never null');
}

function announce(state: State, itemId: unknown, previousItemId: unknown): State {
  return { ...state, announcement: { itemId: String(itemId), previousItemId, next: 'added' } };
}

/** GA clients receive `added` and `done` of an item directly after `created` or `committed` (openai-wire 8.2). */
function checkAnnouncement(state: State, event: ServerFrame, report: Report): State {
  const { announcement, dialect } = state;
  const added = event.type === 'conversation.item.added';
  const done = event.type === 'conversation.item.done';
  if (announcement === undefined) {
    const itemId = textAt(event.fields, 'item.id');
    if ((added || done) && itemId !== state.response?.itemId) {
      report(
        'item-announced',
        `${event.type} of ${shown(itemId)} follows neither its creation nor its commit`,
      );
    }
    return state;
  }
  const { itemId, next, previousItemId } = announcement;
  if (next === 'added' ? added : done) {
    const { item, previous_item_id } = event.fields;
    if (textAt(item, 'id') !== itemId || previous_item_id !== previousItemId) {
      report('item-announced', `${event.type} must be of ${itemId}, behind ${shown(previousItemId)}`);
    }
    userAudio(fieldsOf(item), report);
    return { ...state, announcement: added ? { ...announcement, next: 'done' } : undefined };
  }
  if (dialect === 'ga' || next === 'done') {
    report('item-announced', `conversation.item.${next} of ${itemId} must follow, not ${event.type}`);
  }
  // Without these events, the connection does not use the GA dialect.
  return { ...state, announcement: undefined, dialect: dialect ?? 'spec' };
}

/** Clients fail on an audio part without the key `transcript` (openai-wire 8.6). */
function userAudio(item: Fields, report: Report): void {
  for (const part of Array.isArray(item.content) ? item.content : []) {
    if (at(part, 'type') === 'input_audio' && !Object.hasOwn(fieldsOf(part), 'transcript')) {
      report('item-shape', `the audio part of ${shown(item.id)} has no transcript key`);
    }
  }
}
