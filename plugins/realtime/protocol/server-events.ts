/**
 * All server events in both dialects (spec 6.2; openai-wire 8.2, 8.5). The schemas define the types of the
 * machines and the AsyncAPI document, and validate every frame in the tests.
 */

import { type Static, type TLiteral, type TObject, type TProperties, Type } from '@sinclair/typebox';
import { closed, type Frozen, nullable } from '../../../src/kit/validation/schemas.ts';
import { LogprobSchema } from '../../../src/listen/logprobs.ts';
import {
  assistantItemSchema,
  COUNT,
  ERROR_CODE,
  ERROR_TYPE,
  endedResponseSchema,
  ITEM_ID,
  itemSchema,
  RESPONSE_ID,
  SessionSchema,
  StartedResponseSchema,
  TranscriptionUsageSchema,
} from './event-schemas.ts';

export type {
  ResponseUsage,
  WireAssistantItem,
  WireEndedResponse,
  WireFormat,
  WireItem,
  WireSession,
  WireStartedResponse,
  WireTurnDetection,
} from './event-schemas.ts';

const ZERO = Type.Literal(0);
/** Null unless the session includes them. */
const LOGPROBS = nullable(Type.Array(LogprobSchema));

/** Position of the content part in a transcription and in a response. There is only one part. */
const TRANSCRIPTION = { item_id: ITEM_ID, content_index: ZERO };
const OUTPUT = { response_id: RESPONSE_ID, output_index: ZERO };
const PART = { response_id: RESPONSE_ID, item_id: ITEM_ID, output_index: ZERO, content_index: ZERO };

/** Not renamed in the GA dialect: clients reject `output_audio` here (openai-wire 8.2). */
const AudioPart = closed({ type: Type.Literal('audio'), transcript: Type.String() });

function event<const Name extends string, Payload extends TProperties>(type: Name, payload: Payload) {
  return closed({ type: Type.Literal(type), ...payload });
}

/** Events that are the same in both dialects. */
const COMMON = [
  event('session.created', { session: SessionSchema }),
  event('session.updated', { session: SessionSchema }),
  event('error', {
    error: closed({
      type: ERROR_TYPE,
      code: ERROR_CODE,
      message: Type.String({ minLength: 1 }),
      param: nullable(Type.String()),
      event_id: nullable(Type.String()),
    }),
  }),
  event('input_audio_buffer.committed', { item_id: ITEM_ID, previous_item_id: nullable(ITEM_ID) }),
  event('input_audio_buffer.cleared', {}),
  event('input_audio_buffer.speech_started', { item_id: ITEM_ID, audio_start_ms: COUNT }),
  event('input_audio_buffer.speech_stopped', { item_id: ITEM_ID, audio_end_ms: COUNT }),
  event('conversation.item.input_audio_transcription.delta', {
    ...TRANSCRIPTION,
    delta: Type.String({ minLength: 1 }),
    logprobs: LOGPROBS,
  }),
  event('conversation.item.input_audio_transcription.completed', {
    ...TRANSCRIPTION,
    transcript: Type.String(),
    usage: TranscriptionUsageSchema,
    logprobs: LOGPROBS,
  }),
  event('conversation.item.input_audio_transcription.failed', {
    ...TRANSCRIPTION,
    // A missing value is omitted: null makes a client drop the event (openai-wire 8.5).
    error: closed({
      type: ERROR_TYPE,
      code: ERROR_CODE,
      message: Type.String({ minLength: 1 }),
      param: Type.Optional(Type.String()),
    }),
  }),
  event('response.created', { response: StartedResponseSchema }),
  event('response.content_part.added', { ...PART, part: AudioPart }),
  event('response.content_part.done', { ...PART, part: AudioPart }),
] as const;

/** Events that contain an item or have another name in the GA dialect. */
function named<Audio extends string, Text extends string>(audio: Audio, text: Text) {
  const names = { audio, text };
  const item = itemSchema(names);
  const assistantItem = assistantItemSchema(names);
  return [
    event('conversation.item.created', { item, previous_item_id: nullable(ITEM_ID) }),
    event('response.output_item.added', { ...OUTPUT, item: assistantItem }),
    event('response.output_item.done', { ...OUTPUT, item: assistantItem }),
    event('response.done', { response: endedResponseSchema(names) }),
    event(`response.${audio}.delta`, { ...PART, delta: Type.String({ minLength: 1 }) }),
    event(`response.${audio}.done`, PART),
    event(`response.${audio}_transcript.delta`, { ...PART, delta: Type.String({ minLength: 1 }) }),
    event(`response.${audio}_transcript.done`, { ...PART, transcript: Type.String() }),
  ] as const;
}

/** Events of the GA dialect only. */
function gaOnly<Audio extends string, Text extends string>(audio: Audio, text: Text) {
  const item = itemSchema({ audio, text });
  return [
    event('conversation.item.added', { item, previous_item_id: nullable(ITEM_ID) }),
    event('conversation.item.done', { item, previous_item_id: nullable(ITEM_ID) }),
    event('conversation.item.retrieved', { item }),
    event('conversation.item.truncated', { ...TRANSCRIPTION, audio_end_ms: COUNT }),
  ] as const;
}

const SPEC_NAMED = named('audio', 'text');
const SPEC_VIEW_OF_GA = gaOnly('audio', 'text');
const GA_NAMED = named('output_audio', 'output_text');
const GA_ONLY = gaOnly('output_audio', 'output_text');

type Of<Events extends readonly TObject[]> = Frozen<Static<Events[number]>>;

/**
 * An event as produced by the state machines: with the names of the specification, without `event_id`.
 * Includes the events of the GA dialect; `toDialect` drops them for the `spec` dialect.
 */
export type ServerEvent = Of<typeof COMMON> | Of<typeof SPEC_NAMED> | Of<typeof SPEC_VIEW_OF_GA>;

export type ServerEventOf<Type extends ServerEvent['type']> = Extract<ServerEvent, { readonly type: Type }>;

/** An event in the names of a dialect, without `event_id`. */
export type WireEvent = Of<typeof COMMON> | Of<typeof SPEC_NAMED> | Of<typeof GA_NAMED> | Of<typeof GA_ONLY>;

function onWire(schemas: readonly TObject[]): ReadonlyMap<string, TObject> {
  const event_id = Type.String({ pattern: '^event_.' });
  return new Map(
    schemas.map(({ properties }) => {
      const { type, ...payload } = properties as { type: TLiteral<string> };
      return [type.const, closed({ type, event_id, ...payload })];
    }),
  );
}

/** Schemas of all events of a dialect by `type`, including `event_id`. */
export const SERVER_EVENT_SCHEMAS = {
  spec: onWire([...COMMON, ...SPEC_NAMED]),
  ga: onWire([...COMMON, ...GA_NAMED, ...GA_ONLY]),
};
