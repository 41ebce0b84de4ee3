/** The events that clients send, and how a frame becomes one (spec 6.1; openai-wire 8.4). */

import { type Static, type TProperties, Type } from '@sinclair/typebox';
import { type Frozen, nullable, open } from './wire-shapes.ts';

/** Longest `event_id` that is echoed. */
export const MOST_EVENT_ID_CHARACTERS = 512;

/** A string that names something of the client; new clients send fields that are not named here, so all is open. */
const Text = Type.String();

const InputText = open({ type: Type.Literal('input_text'), text: Text });
const InputAudio = open({
  type: Type.Literal('input_audio'),
  audio: Type.Optional(nullable(Text)),
  transcript: Type.Optional(nullable(Text)),
});
const InputImage = open({
  type: Type.Literal('input_image'),
  image_url: Type.Optional(nullable(Text)),
  detail: Type.Optional(nullable(Text)),
});
const OutputText = open({
  type: Type.Union([Type.Literal('text'), Type.Literal('output_text')]),
  text: Text,
});
const OutputAudio = open({
  type: Type.Union([Type.Literal('audio'), Type.Literal('output_audio')]),
  audio: Type.Optional(nullable(Text)),
  transcript: Type.Optional(nullable(Text)),
});

const ITEM = {
  id: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
  object: Type.Optional(nullable(Text)),
  status: Type.Optional(nullable(Text)),
};
const MESSAGE = { ...ITEM, type: Type.Optional(Type.Literal('message')) };
const UserMessage = open({
  ...MESSAGE,
  role: Type.Literal('user'),
  content: Type.Array(Type.Union([InputText, InputAudio, InputImage])),
});
const SystemMessage = open({ ...MESSAGE, role: Type.Literal('system'), content: Type.Array(InputText) });
const AssistantMessage = open({
  ...MESSAGE,
  role: Type.Literal('assistant'),
  content: Type.Array(Type.Union([OutputText, OutputAudio])),
});
const FunctionCall = open({
  ...ITEM,
  type: Type.Literal('function_call'),
  name: Text,
  arguments: Text,
  call_id: Type.Optional(nullable(Text)),
});
const FunctionCallOutput = open({
  ...ITEM,
  type: Type.Literal('function_call_output'),
  call_id: Text,
  output: Text,
});
const Item = Type.Union([UserMessage, SystemMessage, AssistantMessage, FunctionCall, FunctionCallOutput]);

/** An item as a client may send it. Fields that are not named here may be in it too. */
export type ClientItem = Frozen<Static<typeof Item>>;

/** Any object: what is in it is judged by others, field by field. */
const AnyObject = Type.Unsafe<Record<string, unknown>>(Type.Object({}));

function event<const Name extends string, Payload extends TProperties>(type: Name, payload: Payload) {
  return open({
    type: Type.Literal(type),
    event_id: Type.Optional(nullable(Type.String({ maxLength: MOST_EVENT_ID_CHARACTERS }))),
    ...payload,
  });
}

const EVENTS = [
  event('session.update', { session: AnyObject }),
  event('input_audio_buffer.append', { audio: Text }),
  event('input_audio_buffer.commit', {}),
  event('input_audio_buffer.clear', {}),
  event('conversation.item.create', {
    item: Item,
    /** `root` is the front; absent or null the end. */
    previous_item_id: Type.Optional(nullable(Text)),
  }),
  event('conversation.item.retrieve', { item_id: Text }),
  event('conversation.item.truncate', {
    item_id: Text,
    content_index: Type.Integer({ minimum: 0 }),
    audio_end_ms: Type.Integer({ minimum: 0 }),
  }),
  event('conversation.item.delete', { item_id: Text }),
  event('response.create', { response: Type.Optional(nullable(AnyObject)) }),
  event('response.cancel', { response_id: Type.Optional(nullable(Text)) }),
  event('output_audio_buffer.clear', {}),
] as const;

/** A client event that has every field it needs, in wire names. */
export type ClientEvent = Frozen<Static<(typeof EVENTS)[number]>>;
