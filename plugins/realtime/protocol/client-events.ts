/** Client events (spec 6.1; openai-wire 8.4). */

import { type Static, type TObject, type TProperties, Type } from '@sinclair/typebox';
import { type Frozen, nullable, open } from '../../../src/kit/validation/schemas.ts';
import { MAX_EVENT_ID_CHARACTERS } from '../limits.ts';
import { type DecodedEvent, frameParser, type ParsedEvent } from './frame-parser.ts';

// Every object is open: newer clients send fields that this service does not know.

const Text = Type.String();

export const InputText = open({ type: Type.Literal('input_text'), text: Text });
export const InputAudio = open({
  type: Type.Literal('input_audio'),
  audio: Type.Optional(nullable(Text)),
  transcript: Type.Optional(nullable(Text)),
});
export const InputImage = open({
  type: Type.Literal('input_image'),
  image_url: Type.Optional(nullable(Text)),
  detail: Type.Optional(nullable(Text)),
});
export const OutputText = open({
  type: Type.Union([Type.Literal('text'), Type.Literal('output_text')]),
  text: Text,
});
export const OutputAudio = open({
  type: Type.Union([Type.Literal('audio'), Type.Literal('output_audio')]),
  audio: Type.Optional(nullable(Text)),
  transcript: Type.Optional(nullable(Text)),
});

const ITEM = {
  id: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
  object: Type.Optional(nullable(Text)),
  status: Type.Optional(nullable(Text)),
};
export const MESSAGE = { ...ITEM, type: Type.Optional(Type.Literal('message')) };
export const UserMessage = open({
  ...MESSAGE,
  role: Type.Literal('user'),
  content: Type.Array(Type.Union([InputText, InputAudio, InputImage])),
});
export const SystemMessage = open({
  ...MESSAGE,
  role: Type.Literal('system'),
  content: Type.Array(InputText),
});
const AssistantMessage = open({
  ...MESSAGE,
  role: Type.Literal('assistant'),
  content: Type.Array(Type.Union([OutputText, OutputAudio])),
});
export const FunctionCall = open({
  ...ITEM,
  type: Type.Literal('function_call'),
  name: Text,
  arguments: Text,
  call_id: Type.Optional(nullable(Text)),
});
export const FunctionCallOutput = open({
  ...ITEM,
  type: Type.Literal('function_call_output'),
  call_id: Text,
  output: Text,
});
export const ClientItemSchema = Type.Union([
  UserMessage,
  SystemMessage,
  AssistantMessage,
  FunctionCall,
  FunctionCallOutput,
]);

/** An item sent by a client. It may contain further fields. */
export type ClientItem = Frozen<Static<typeof ClientItemSchema>>;

/** Any object. Its fields are validated elsewhere, one by one. */
export const AnyObject = Type.Unsafe<Record<string, unknown>>(Type.Object({}));

export function clientEvent<const Name extends string, Payload extends TProperties>(
  type: Name,
  payload: Payload,
) {
  return open({
    type: Type.Literal(type),
    event_id: Type.Optional(nullable(Type.String({ maxLength: MAX_EVENT_ID_CHARACTERS }))),
    ...payload,
  });
}

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
  clientEvent('response.create', { response: Type.Optional(nullable(AnyObject)) }),
  clientEvent('response.cancel', { response_id: Type.Optional(nullable(Text)) }),
  clientEvent('conversation.item.retrieve', { item_id: Text }),
  clientEvent('conversation.item.truncate', {
    item_id: Text,
    content_index: Type.Integer({ minimum: 0 }),
    audio_end_ms: Type.Integer({ minimum: 0 }),
  }),
  clientEvent('conversation.item.delete', { item_id: Text }),
  clientEvent('output_audio_buffer.clear', {}),
] as const;

/** Name of `session.update` in the beta protocol. */
const BETA_SESSION_UPDATE = clientEvent('transcription_session.update', { session: AnyObject });

/** A client event with all required fields, as it is sent. */
export type SentEvent = Frozen<Static<(typeof EVENTS)[number]>>;
/** A client event with decoded audio. */
export type ClientEvent = DecodedEvent<SentEvent>;

const KNOWN: readonly TObject[] = [...EVENTS, BETA_SESSION_UPDATE];

/** Schemas of all client events by `type`. */
export const CLIENT_EVENT_SCHEMAS: ReadonlyMap<string, TObject> = new Map(
  KNOWN.map((schema) => [schema.properties.type?.const, schema]),
);

export type ParsedFrame = ParsedEvent<ClientEvent>;

/** Parses a frame. Never throws; an invalid frame results in an error. */
export const parseClientFrame = frameParser<ClientEvent>(CLIENT_EVENT_SCHEMAS, {
  'transcription_session.update': 'session.update',
});
