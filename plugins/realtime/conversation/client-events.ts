/** Client events of a conversation, and their conversion to items and commands. */

import { type Static, type TObject, Type } from '@sinclair/typebox';
import { type Id, newId } from '../../../src/contract/core/id.ts';
import type { Item } from '../../../src/conversation/items/item.ts';
import { type Frozen, nullable, open } from '../../../src/kit/validation/schemas.ts';
import {
  AnyObject,
  clientEvent,
  FunctionCall,
  FunctionCallOutput,
  InputText,
  MESSAGE,
  OutputAudio,
  OutputText,
  SystemMessage,
  UserMessage,
} from '../protocol/client-events.ts';
import { type DecodedEvent, frameParser } from '../protocol/frame-parser.ts';
import { namedVoice } from '../session/session.ts';

/** Pipecat sends the text of the assistant as `input_text`. */
const AssistantMessage = open({
  ...MESSAGE,
  role: Type.Literal('assistant'),
  content: Type.Array(Type.Union([OutputText, OutputAudio, InputText])),
});
const CallName = Type.String({ minLength: 1 });
/** Clients and language models do not accept a call with an empty name or id. */
const NamedFunctionCall = open({
  ...FunctionCall.properties,
  name: CallName,
  call_id: Type.Optional(nullable(CallName)),
});
const ClientItemSchema = Type.Union([
  UserMessage,
  SystemMessage,
  AssistantMessage,
  NamedFunctionCall,
  FunctionCallOutput,
]);
const ItemReference = open({
  type: Type.Literal('item_reference'),
  id: Type.String({ minLength: 1, maxLength: 512 }),
});
const ResponseInput = Type.Array(Type.Union([ClientItemSchema, ItemReference]), { maxItems: 1000 });
const Text = Type.String();

const EVENTS = [
  clientEvent('session.update', { session: AnyObject }),
  clientEvent('input_audio_buffer.append', { audio: Text }),
  clientEvent('input_audio_buffer.commit', {}),
  clientEvent('input_audio_buffer.clear', {}),
  clientEvent('conversation.item.create', {
    item: ClientItemSchema,
    /** `root` inserts at the front; absent or null appends. */
    previous_item_id: Type.Optional(nullable(Text)),
  }),
  clientEvent('conversation.item.delete', { item_id: Text }),
  clientEvent('conversation.item.retrieve', { item_id: Text }),
  clientEvent('conversation.item.truncate', {
    item_id: Text,
    content_index: Type.Integer({ minimum: 0 }),
    audio_end_ms: Type.Integer({ minimum: 0 }),
  }),
  clientEvent('response.create', {
    response: Type.Optional(
      nullable(
        open({
          conversation: Type.Optional(nullable(Type.Union([Type.Literal('auto'), Type.Literal('none')]))),
          input: Type.Optional(nullable(ResponseInput)),
          metadata: Type.Optional(nullable(AnyObject)),
        }),
      ),
    ),
  }),
  clientEvent('response.cancel', { response_id: Type.Optional(nullable(Text)) }),
  clientEvent('output_audio_buffer.clear', {}),
] as const;

/** A client event, with decoded audio. */
export type ConversationClientEvent = DecodedEvent<Frozen<Static<(typeof EVENTS)[number]>>>;
export type ClientItem = Frozen<Static<typeof ClientItemSchema>>;

/** Schemas of all client events by `type`. */
export const CONVERSATION_CLIENT_EVENT_SCHEMAS: ReadonlyMap<string, TObject> = new Map(
  EVENTS.map((schema) => [schema.properties.type.const, schema]),
);

/** Parses a frame. Never throws; an invalid frame results in an error. */
export const parseConversationFrame = frameParser<ConversationClientEvent>(CONVERSATION_CLIENT_EVENT_SCHEMAS);

/** Returns the id that may be that of a stored voice, if an event names one. */
export function voiceOfEvent(event: ConversationClientEvent): Id<'tts-vc-voice_'> | undefined {
  if (event.type === 'session.update') return namedVoice(event.session);
  return event.type === 'response.create' && event.response != null ? namedVoice(event.response) : undefined;
}

/** Items and references of `response.create`. */
export function responseInput(
  input: readonly (ClientItem | { readonly type: 'item_reference'; readonly id: string })[],
): (Item | { readonly reference: string })[] {
  return input.map((entry) => (entry.type === 'item_reference' ? { reference: entry.id } : toItem(entry)));
}

/** Converts an item of a client: known fields only, complete, without audio, and with an id. */
export function toItem(item: ClientItem): Item {
  const common = { id: item.id ?? newId('item_'), object: 'realtime.item', status: 'completed' } as const;
  if (item.type === 'function_call') {
    const { type, name, arguments: args, call_id } = item;
    return {
      ...common,
      type,
      name,
      arguments: args === '' ? '{}' : args,
      call_id: call_id ?? newId('call_'),
    };
  }
  if (item.type === 'function_call_output') {
    return { ...common, type: item.type, call_id: item.call_id, output: item.output };
  }
  const message = { ...common, type: 'message' } as const;
  switch (item.role) {
    case 'user':
      return { ...message, role: item.role, content: item.content.flatMap(userPart) };
    case 'system':
      return { ...message, role: item.role, content: item.content.map(({ type, text }) => ({ type, text })) };
    case 'assistant':
      return { ...message, role: item.role, content: item.content.map(assistantPart) };
  }
}

type ClientPart<Role extends string> = Extract<ClientItem, { readonly role: Role }>['content'][number];
type ItemPart<Role extends string> = Extract<Item, { readonly role: Role }>['content'][number];

function userPart(part: ClientPart<'user'>): ItemPart<'user'>[] {
  switch (part.type) {
    case 'input_text':
      return [{ type: part.type, text: part.text }];
    case 'input_audio':
      return [{ type: part.type, transcript: part.transcript ?? null }];
    case 'input_image': {
      const { type, image_url, detail } = part;
      return image_url == null ? [] : [{ type, image_url, ...(detail == null ? {} : { detail }) }];
    }
  }
}

/** A transcript without audio is the text of the assistant. */
function assistantPart(part: ClientPart<'assistant'>): ItemPart<'assistant'> {
  const text = 'text' in part ? part.text : (part.transcript ?? '');
  return { type: 'output_text', text };
}
