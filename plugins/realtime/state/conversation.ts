/** The last 64 items of a conversation (spec 4.7, 8; openai-wire 8.4–8.6). It ends with the connection. */

import type { Id } from '../../../src/contract/core/id.ts';
import { MAX_ITEM_BYTES, WINDOW_ITEMS } from '../limits.ts';
import type { ClientItem } from '../protocol/client-events.ts';
import { invalidEvent, type ProtocolError } from '../protocol/errors.ts';
import type { WireAssistantItem, WireItem } from '../protocol/server-events.ts';

/** The most recent items, oldest first. Immutable. Empty only before the first item. */
export interface Conversation {
  readonly items: readonly WireItem[];
}

export const EMPTY_CONVERSATION: Conversation = { items: [] };

/** Result of adding an item. */
export interface InsertedItem {
  readonly conversation: Conversation;
  readonly item: WireItem;
  /** Id of the preceding item; null only for the first item. */
  readonly previousItemId: string | null;
}

export interface CreateItemParams {
  readonly item: ClientItem;
  /** `root` inserts at the front; absent or null appends. */
  readonly previousItemId?: string | null | undefined;
  /** Id for an item that has none. */
  readonly freshId: Id<'item_'>;
  /** Maximum length of a user text in Unicode code points, so that it can be synthesized. */
  readonly maxTextCharacters: number;
  /**
   * Returns whether an item that is not in the conversation has this id: an active turn or a running
   * transcription.
   */
  readonly isReserved?: (id: string) => boolean;
}

/**
 * Adds an item of the client in normalized form: complete, without audio, without nulls.
 * @returns an error for an id that is in use, an unknown `previous_item_id`, and an item or user text that is
 *   too long. The conversation is then unchanged.
 */
export function createItem(
  conversation: Conversation,
  params: CreateItemParams,
): InsertedItem | { readonly error: ProtocolError } {
  const item = normalizeItem(params.item, params.freshId);
  const error = validateItem(conversation, item, params);
  return error === undefined ? insertItem(conversation, item, params.previousItemId ?? undefined) : { error };
}

/** Appends the audio of a committed turn. Its transcript is null until {@link withTranscript}. */
export function addAudioItem(conversation: Conversation, id: Id<'item_'>): InsertedItem {
  return insertItem(conversation, {
    id,
    object: 'realtime.item',
    type: 'message',
    status: 'completed',
    role: 'user',
    content: [{ type: 'input_audio', transcript: null }],
  });
}

/** Appends the item of a response. {@link withItem} completes it. */
export function addAssistantItem(conversation: Conversation, item: WireAssistantItem): InsertedItem {
  return insertItem(conversation, item);
}

/** Replaces the item with the same id. Without such an item nothing changes. */
export function withItem(conversation: Conversation, item: WireItem): Conversation {
  const index = conversation.items.findIndex(({ id }) => id === item.id);
  return index < 0 ? conversation : { items: conversation.items.with(index, item) };
}

/** Sets the transcript of the audio in a user item. Without such an item nothing changes. */
export function withTranscript(conversation: Conversation, itemId: string, transcript: string): Conversation {
  const item = findItem(conversation, itemId);
  if (item?.type !== 'message' || item.role !== 'user') return conversation;
  const content = item.content.map((part) => (part.type === 'input_audio' ? { ...part, transcript } : part));
  return withItem(conversation, { ...item, content });
}

export function findItem(conversation: Conversation, itemId: string): WireItem | undefined {
  return conversation.items.find(({ id }) => id === itemId);
}

/**
 * Returns the text that a response speaks (spec 6.1): that of the last user item with text; undefined if
 * there are none.
 */
export function latestUserText(conversation: Conversation): string | undefined {
  return conversation.items
    .map(userText)
    .findLast((text) => text.trim() !== '')
    ?.toWellFormed();
}

/** Joins the text parts of a user item. Returns an empty string for other items. */
function userText(item: WireItem): string {
  if (item.type !== 'message' || item.role !== 'user') return '';
  return item.content.map((part) => (part.type === 'input_text' ? part.text : '')).join('');
}

/**
 * If the conversation is full, the oldest item is removed. An item inserted at the front of a full
 * conversation stays, because the reply refers to it.
 */
function insertItem(conversation: Conversation, item: WireItem, after?: string): InsertedItem {
  const index = insertionIndex(conversation.items, after);
  const previousItemId = conversation.items[index - 1]?.id ?? null;
  const items = conversation.items.toSpliced(index, 0, item);
  const retained = items.length > WINDOW_ITEMS ? items.toSpliced(index === 0 ? 1 : 0, 1) : items;
  return { conversation: { items: retained }, item, previousItemId };
}

function insertionIndex(items: readonly WireItem[], after: string | undefined): number {
  if (after === undefined) return items.length;
  return after === 'root' ? 0 : items.findIndex(({ id }) => id === after) + 1;
}

function validateItem(
  conversation: Conversation,
  item: WireItem,
  params: CreateItemParams,
): ProtocolError | undefined {
  const { previousItemId, maxTextCharacters } = params;
  if (findItem(conversation, item.id) !== undefined || params.isReserved?.(item.id)) {
    return invalidEvent("'item.id' is already in use; omit it, or choose a unique id.", 'item.id');
  }
  const isKnown = previousItemId === 'root' || findItem(conversation, previousItemId ?? '') !== undefined;
  if (typeof previousItemId === 'string' && !isKnown) {
    return invalidEvent(
      `'previous_item_id' must be 'root', or the id of one of the last ${WINDOW_ITEMS} items; if omitted, the item is appended.`,
      'previous_item_id',
    );
  }
  if (!isWithin(userText(item), maxTextCharacters)) {
    return invalidEvent(
      `The text of an item may have at most ${maxTextCharacters} characters.`,
      'item.content',
    );
  }
  if (Buffer.byteLength(JSON.stringify(item)) > MAX_ITEM_BYTES) {
    return invalidEvent(
      `An item may have at most ${MAX_ITEM_BYTES} bytes of JSON, not counting audio.`,
      'item',
    );
  }
  return undefined;
}

/** Checks the length in code points without counting all of a long text. */
function isWithin(text: string, maxCharacters: number): boolean {
  if (text.length <= maxCharacters) return true;
  if (text.length > 2 * maxCharacters) return false;
  return [...text].length <= maxCharacters;
}

/** Normalizes an item: known fields only, without nulls and without audio. */
function normalizeItem(item: ClientItem, freshId: Id<'item_'>): WireItem {
  const common = { id: item.id ?? freshId, object: 'realtime.item', status: 'completed' } as const;
  if (item.type === 'function_call') {
    const { type, name, arguments: given, call_id } = item;
    return { ...common, type, name, arguments: given, ...(call_id == null ? {} : { call_id }) };
  }
  if (item.type === 'function_call_output') {
    return { ...common, type: item.type, call_id: item.call_id, output: item.output };
  }
  const message = { ...common, type: 'message' } as const;
  switch (item.role) {
    case 'user':
      return { ...message, role: item.role, content: item.content.map(userPart) };
    case 'system':
      return { ...message, role: item.role, content: item.content.map(({ type, text }) => ({ type, text })) };
    case 'assistant':
      return { ...message, role: item.role, content: item.content.map(assistantPart) };
  }
}

type ClientPart<Role extends string> = Extract<ClientItem, { readonly role: Role }>['content'][number];

function userPart(part: ClientPart<'user'>) {
  switch (part.type) {
    case 'input_text':
      return { type: part.type, text: part.text };
    case 'input_audio':
      // Clients require the key (openai-wire 8.6).
      return { type: part.type, transcript: part.transcript ?? null };
    case 'input_image': {
      const { type, image_url, detail } = part;
      return { type, ...(image_url == null ? {} : { image_url }), ...(detail == null ? {} : { detail }) };
    }
  }
}

/**
 * Maps the part names of both dialects to those of the specification. `toDialect` renames them for the
 * client.
 */
function assistantPart(part: ClientPart<'assistant'>) {
  switch (part.type) {
    case 'text':
    case 'output_text':
      return { type: 'text', text: part.text } as const;
    case 'audio':
    case 'output_audio':
      return { type: 'audio', transcript: part.transcript ?? '' } as const;
  }
}
