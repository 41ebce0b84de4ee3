/**
 * Events of a conversation, with the names and fields of OpenAI's realtime protocol. The schemas define the types of the state
 * machines and the AsyncAPI document, and validate every event in the tests. Transports add an `event_id`; they also send
 * the audio of responses, which is not part of these events, and the events of the session.
 */

import { type Static, type TLiteral, type TObject, type TProperties, Type } from '@sinclair/typebox';
import { MAX_RATE_HZ, MIN_RATE_HZ } from '../../contract/engines/audio.ts';
import { closed, type Frozen, nullable, open } from '../../kit/validation/schemas.ts';
import { oneOf } from '../../kit/validation/type-errors.ts';
import { LogprobSchema } from '../../listen/logprobs.ts';
import { ItemSchema, OutputItemSchema } from '../items/item.ts';

/** Null unless the session includes them. */
const LOGPROBS = nullable(Type.Array(LogprobSchema));
const COUNT = Type.Integer({ minimum: 0 });
const ITEM_ID = Type.String({ minLength: 1 });
const RESPONSE_ID = Type.String({ pattern: '^resp_.' });

export const ERROR_TYPES = [
  'invalid_request_error',
  'server_error',
  'rate_limit_error',
  'insufficient_quota',
] as const;

export const FormatSchema = closed({
  type: oneOf(['audio/pcm', 'audio/pcmu', 'audio/pcma']),
  rate: Type.Integer({ minimum: MIN_RATE_HZ, maximum: MAX_RATE_HZ }),
});

export const TranscriptionUsageSchema = closed({
  type: Type.Literal('tokens'),
  total_tokens: COUNT,
  input_tokens: COUNT,
  output_tokens: COUNT,
  input_token_details: closed({ text_tokens: COUNT, audio_tokens: COUNT }),
});

export const ResponseUsageSchema = closed({
  total_tokens: COUNT,
  input_tokens: COUNT,
  output_tokens: COUNT,
  input_token_details: closed({
    text_tokens: COUNT,
    audio_tokens: COUNT,
    image_tokens: COUNT,
    cached_tokens: COUNT,
    cached_tokens_details: closed({ text_tokens: COUNT, audio_tokens: COUNT, image_tokens: COUNT }),
  }),
  output_token_details: closed({ text_tokens: COUNT, audio_tokens: COUNT }),
});

const RESPONSE = {
  object: Type.Literal('realtime.response'),
  id: RESPONSE_ID,
  /** Null for a response outside the conversation. */
  conversation_id: nullable(Type.String({ pattern: '^conv_.' })),
  output_modalities: Type.Array(oneOf(['audio', 'text']), { minItems: 1, maxItems: 1 }),
  max_output_tokens: Type.Union([Type.Integer({ minimum: 1 }), Type.Literal('inf')]),
  audio: closed({ output: closed({ format: FormatSchema, voice: Type.String() }) }),
  /** Echoed from `response.create`. */
  metadata: nullable(open({})),
};

const ErrorDetail = closed({
  type: oneOf(ERROR_TYPES),
  code: Type.String({ minLength: 1 }),
  message: Type.String({ minLength: 1 }),
});

export const StartedResponseSchema = closed({
  ...RESPONSE,
  status: Type.Literal('in_progress'),
  status_details: Type.Null(),
  output: Type.Array(Type.Never(), { maxItems: 0 }),
  usage: Type.Null(),
});

/** In ms after the end of the user's speech; null for a stage that was not reached. */
const TimingSchema = closed({
  turn_decision_ms: nullable(COUNT),
  transcript_ms: nullable(COUNT),
  first_token_ms: nullable(COUNT),
  first_audio_ms: nullable(COUNT),
});
const ENDED = {
  ...RESPONSE,
  output: Type.Array(OutputItemSchema),
  usage: nullable(ResponseUsageSchema),
  /** Present if the session includes `response.timing` and the response answers a spoken turn. */
  timing: Type.Optional(TimingSchema),
};
export const EndedResponseSchema = Type.Union([
  closed({ ...ENDED, status: Type.Literal('completed'), status_details: Type.Null() }),
  closed({
    ...ENDED,
    status: Type.Literal('cancelled'),
    status_details: closed({
      type: Type.Literal('cancelled'),
      reason: oneOf(['turn_detected', 'client_cancelled']),
    }),
  }),
  closed({
    ...ENDED,
    status: Type.Literal('incomplete'),
    status_details: closed({
      type: Type.Literal('incomplete'),
      reason: oneOf(['max_output_tokens', 'content_filter']),
    }),
  }),
  closed({
    ...ENDED,
    status: Type.Literal('failed'),
    status_details: closed({ type: Type.Literal('failed'), error: ErrorDetail }),
  }),
]);

function event<const Name extends string, Payload extends TProperties>(type: Name, payload: Payload) {
  return closed({ type: Type.Literal(type), ...payload });
}

const PLACED_ITEM = { previous_item_id: nullable(ITEM_ID), item: ItemSchema };
const TRANSCRIPTION = { item_id: ITEM_ID, content_index: Type.Literal(0) };
const OUTPUT = { response_id: RESPONSE_ID, output_index: COUNT };
const OUTPUT_ITEM = { ...OUTPUT, item: OutputItemSchema };
const PART = { ...OUTPUT, item_id: ITEM_ID, content_index: Type.Literal(0) };
const CALL = { ...OUTPUT, item_id: ITEM_ID, call_id: Type.String({ minLength: 1 }) };
/** The names of the parts are not those of the items: clients reject `output_audio` here. */
const ContentPart = Type.Union([
  closed({ type: Type.Literal('audio'), transcript: Type.String() }),
  closed({ type: Type.Literal('text'), text: Type.String() }),
]);
const DELTA = { delta: Type.String({ minLength: 1 }) };

const EVENTS = [
  event('error', {
    error: closed({
      type: oneOf(ERROR_TYPES),
      code: Type.String({ minLength: 1 }),
      message: Type.String({ minLength: 1 }),
      param: nullable(Type.String()),
      /** Id of the rejected client event. */
      event_id: nullable(Type.String()),
    }),
  }),
  event('input_audio_buffer.speech_started', { item_id: ITEM_ID, audio_start_ms: COUNT }),
  event('input_audio_buffer.speech_stopped', { item_id: ITEM_ID, audio_end_ms: COUNT }),
  event('input_audio_buffer.committed', { item_id: ITEM_ID, previous_item_id: nullable(ITEM_ID) }),
  event('input_audio_buffer.cleared', {}),
  event('input_audio_buffer.timeout_triggered', {
    item_id: ITEM_ID,
    audio_start_ms: COUNT,
    audio_end_ms: COUNT,
  }),
  event('conversation.item.added', PLACED_ITEM),
  event('conversation.item.done', PLACED_ITEM),
  event('conversation.item.retrieved', { item: ItemSchema }),
  event('conversation.item.truncated', {
    item_id: ITEM_ID,
    content_index: Type.Literal(0),
    audio_end_ms: COUNT,
  }),
  event('conversation.item.deleted', { item_id: ITEM_ID }),
  event('conversation.item.input_audio_transcription.delta', {
    ...TRANSCRIPTION,
    ...DELTA,
    logprobs: LOGPROBS,
  }),
  event('conversation.item.input_audio_transcription.completed', {
    ...TRANSCRIPTION,
    transcript: Type.String(),
    usage: TranscriptionUsageSchema,
    logprobs: LOGPROBS,
  }),
  event('conversation.item.input_audio_transcription.failed', { ...TRANSCRIPTION, error: ErrorDetail }),
  event('response.created', { response: StartedResponseSchema }),
  event('response.output_item.added', OUTPUT_ITEM),
  event('response.content_part.added', { ...PART, part: ContentPart }),
  event('response.output_text.delta', { ...PART, ...DELTA }),
  event('response.output_text.done', { ...PART, text: Type.String() }),
  event('response.output_audio_transcript.delta', {
    ...PART,
    ...DELTA,
    /** Time of the delta in the audio of the item, in seconds, if it is known. */
    start_time: Type.Optional(Type.Number({ minimum: 0 })),
  }),
  event('response.output_audio_transcript.done', { ...PART, transcript: Type.String() }),
  event('response.output_audio.done', PART),
  event('response.function_call_arguments.delta', { ...CALL, ...DELTA }),
  event('response.function_call_arguments.done', {
    ...CALL,
    name: Type.String({ minLength: 1 }),
    arguments: Type.String({ minLength: 2 }),
  }),
  event('response.content_part.done', { ...PART, part: ContentPart }),
  event('response.output_item.done', OUTPUT_ITEM),
  event('response.done', { response: EndedResponseSchema }),
] as const;

/** An event of a conversation, without `event_id`. */
export type ConversationEvent = Frozen<Static<(typeof EVENTS)[number]>>;
export type ConversationEventOf<Type extends ConversationEvent['type']> = Extract<
  ConversationEvent,
  { readonly type: Type }
>;
export type WireFormat = Frozen<Static<typeof FormatSchema>>;
export type ErrorBody = Frozen<Static<typeof ErrorDetail>>;
export type ResponseUsage = Frozen<Static<typeof ResponseUsageSchema>>;
export type TranscriptionUsage = Frozen<Static<typeof TranscriptionUsageSchema>>;
export type EndedResponse = Frozen<Static<typeof EndedResponseSchema>>;

/** Audio of a response, in the format of its output. */
export const AudioDeltaSchema = event('response.output_audio.delta', { ...PART, ...DELTA });

/** Schemas of all events by `type`, without `event_id`. */
export const CONVERSATION_EVENT_SCHEMAS: ReadonlyMap<string, TObject> = new Map(
  [...EVENTS, AudioDeltaSchema].map((schema) => [
    (schema.properties as { type: TLiteral<string> }).type.const,
    schema,
  ]),
);
