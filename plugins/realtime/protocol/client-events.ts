/** Client events and the parsing of frames (spec 6.1; openai-wire 8.4). */

import { type Static, type TObject, type TProperties, Type } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { isRecord } from '../../../src/kit/validation/is-record.ts';
import { isNestedWithin } from '../../../src/kit/validation/nesting.ts';
import { firstIssue } from '../../../src/kit/validation/value-errors.ts';
import { invalidEvent, type ProtocolError } from './errors.ts';
import { type Frozen, nullable, open } from './event-schemas.ts';

/** Maximum length of an `event_id` that is echoed. */
export const MAX_EVENT_ID_CHARACTERS = 512;
/** Maximum length of an event, except for appends, which only the socket limits. */
export const MAX_EVENT_CHARACTERS = 1024 * 1024;
/**
 * Maximum number of fields and list entries of an event. Each uses far more memory than its one or two
 * characters.
 */
export const MAX_VALUES = 50_000;
/** Maximum nesting depth of lists and objects. */
export const MAX_DEPTH = 64;

// Every object is open: newer clients send fields that this service does not know.

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
const AnyObject = Type.Unsafe<Record<string, unknown>>(Type.Object({}));

function event<const Name extends string, Payload extends TProperties>(type: Name, payload: Payload) {
  return open({
    type: Type.Literal(type),
    event_id: Type.Optional(nullable(Type.String({ maxLength: MAX_EVENT_ID_CHARACTERS }))),
    ...payload,
  });
}

const EVENTS = [
  event('session.update', { session: AnyObject }),
  event('input_audio_buffer.append', { audio: Text }),
  event('input_audio_buffer.commit', {}),
  event('input_audio_buffer.clear', {}),
  event('conversation.item.create', {
    item: ClientItemSchema,
    /** `root` inserts at the front; absent or null appends. */
    previous_item_id: Type.Optional(nullable(Text)),
  }),
  event('response.create', { response: Type.Optional(nullable(AnyObject)) }),
  event('response.cancel', { response_id: Type.Optional(nullable(Text)) }),
  event('conversation.item.retrieve', { item_id: Text }),
  event('conversation.item.truncate', {
    item_id: Text,
    content_index: Type.Integer({ minimum: 0 }),
    audio_end_ms: Type.Integer({ minimum: 0 }),
  }),
  event('conversation.item.delete', { item_id: Text }),
  event('output_audio_buffer.clear', {}),
] as const;

/** Name of `session.update` in the beta protocol. */
const BETA_SESSION_UPDATE = event('transcription_session.update', { session: AnyObject });

/** A client event with all required fields, in wire names. */
export type ClientEvent = Frozen<Static<(typeof EVENTS)[number]>>;

const KNOWN: readonly TObject[] = [...EVENTS, BETA_SESSION_UPDATE];

/** Schemas of all client events by `type`. */
export const CLIENT_EVENT_SCHEMAS: ReadonlyMap<string, TObject> = new Map(
  KNOWN.map((schema) => [schema.properties.type?.const, schema]),
);

const CHECKERS = new Map(
  [...CLIENT_EVENT_SCHEMAS].map(([type, schema]) => [type, TypeCompiler.Compile(schema)]),
);
const TYPES = [...CHECKERS.keys()].map((type) => JSON.stringify(type)).join(', ');

export type ParsedFrame =
  | { readonly event: ClientEvent }
  /** `eventId`: the event id of the frame, if it can be echoed. */
  | { readonly error: ProtocolError; readonly eventId: string | null };

/** Parses a frame. Never throws; an invalid frame results in an error. */
export function parseClientFrame(frame: string | Uint8Array): ParsedFrame {
  if (typeof frame !== 'string') {
    return rejected('Binary frames are not accepted: send events as JSON text, with audio in base64.');
  }
  if (!isWithinValueLimit(frame)) {
    return rejected(
      `An event may contain at most ${MAX_VALUES} commas and brackets: it has too many fields.`,
    );
  }
  let value: unknown;
  try {
    value = JSON.parse(frame);
  } catch {
    return rejected('The frame is not valid JSON.');
  }
  if (!isRecord(value)) return rejected("The frame must be a JSON object with a 'type'.", 'type');
  const error = validateEvent(value, frame.length);
  if (error !== undefined) return { error, eventId: readableEventId(value) };
  const event = value as ClientEvent | Static<typeof BETA_SESSION_UPDATE>;
  return {
    event: event.type === 'transcription_session.update' ? { ...event, type: 'session.update' } : event,
  };
}

/**
 * Returns an error if the event is not valid.
 * @param characters length of its frame.
 */
function validateEvent(
  event: Readonly<Record<string, unknown>>,
  characters: number,
): ProtocolError | undefined {
  const { type } = event;
  if (type === undefined) return invalidEvent(`'type' is required and must be one of ${TYPES}.`, 'type');
  const checker = typeof type === 'string' ? CHECKERS.get(type) : undefined;
  if (checker === undefined) return invalidEvent(`'type' must be one of ${TYPES}.`, 'type');
  // Every message contains the name of the event, because some clients do not track event ids (openai-wire
  // 8.8).
  const reject = (reason: string, param?: string) => invalidEvent(`${type} rejected: ${reason}.`, param);
  if (type !== 'input_audio_buffer.append') {
    if (characters > MAX_EVENT_CHARACTERS) {
      return reject(`the event may have at most ${MAX_EVENT_CHARACTERS} characters`);
    }
    if (!isNestedWithin(event, MAX_DEPTH)) {
      return reject(`lists and objects may be nested at most ${MAX_DEPTH} levels deep`);
    }
  }
  const issue = firstIssue(checker, event);
  return issue === undefined ? undefined : reject(`'${issue.field}' ${issue.problem}`, issue.field);
}

function readableEventId({ event_id }: Readonly<Record<string, unknown>>): string | null {
  return typeof event_id === 'string' && event_id.length <= MAX_EVENT_ID_CHARACTERS ? event_id : null;
}

function rejected(message: string, param: string | null = null): ParsedFrame {
  return { error: invalidEvent(message, param), eventId: null };
}

/**
 * Checked before parsing: 33 MB of brackets would take seconds and gigabytes to parse. Base64 contains none
 * of these characters, so an append is only scanned.
 */
function isWithinValueLimit(text: string): boolean {
  if (text.length <= MAX_VALUES) return true;
  let values = 0;
  for (const mark of [',', '[', '{']) {
    for (let index = text.indexOf(mark); index !== -1; index = text.indexOf(mark, index + 1)) {
      values += 1;
      if (values > MAX_VALUES) return false;
    }
  }
  return true;
}
