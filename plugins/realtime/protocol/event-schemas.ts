/**
 * Objects of realtime events: items, responses, the session, usage (openai-wire 8.3, 8.6, 8.7). They are
 * closed, except where fields chosen by the client are echoed.
 */

import { type Static, Type } from '@sinclair/typebox';
import {
  FormatSchema,
  ResponseUsageSchema,
  TranscriptionUsageSchema,
} from '../../../src/conversation/events/server-events.ts';
import { closed, type Frozen, nullable, open } from '../../../src/kit/validation/schemas.ts';
import { oneOf } from '../../../src/kit/validation/type-errors.ts';
import { THRESHOLD, VAD_MS } from '../limits.ts';
import { ERROR_TYPES, type RealtimeErrorCode, type RealtimeErrorType } from './error-codes.ts';

export { FormatSchema, ResponseUsageSchema, TranscriptionUsageSchema };

export const COUNT = Type.Integer({ minimum: 0 });
export const ITEM_ID = Type.String({ minLength: 1 });
export const RESPONSE_ID = Type.String({ pattern: '^resp_.' });

const STATUS = oneOf(['completed', 'incomplete', 'in_progress']);
/** Fields of every item. Unknown values are omitted, never null (openai-wire 8.5). */
const ITEM = { id: ITEM_ID, object: Type.Literal('realtime.item'), status: STATUS };

const InputText = closed({ type: Type.Literal('input_text'), text: Type.String() });
/** Clients require the `transcript` key (openai-wire 8.6). */
const InputAudio = closed({ type: Type.Literal('input_audio'), transcript: nullable(Type.String()) });
const InputImage = closed({
  type: Type.Literal('input_image'),
  image_url: Type.Optional(Type.String()),
  detail: Type.Optional(Type.String()),
});

/** Names of the content part types of an assistant item in a dialect. */
export interface PartNames<Audio extends string, Text extends string> {
  readonly audio: Audio;
  readonly text: Text;
}

/** An assistant item. Its content is empty until its part is complete. */
export function assistantItemSchema<Audio extends string, Text extends string>(
  names: PartNames<Audio, Text>,
) {
  const part = Type.Union([
    closed({ type: Type.Literal(names.audio), transcript: Type.String() }),
    closed({ type: Type.Literal(names.text), text: Type.String() }),
  ]);
  return closed({
    ...ITEM,
    type: Type.Literal('message'),
    role: Type.Literal('assistant'),
    content: Type.Array(part),
  });
}

/** Any item of the conversation. */
export function itemSchema<Audio extends string, Text extends string>(names: PartNames<Audio, Text>) {
  return Type.Union([
    closed({
      ...ITEM,
      type: Type.Literal('message'),
      role: Type.Literal('user'),
      content: Type.Array(Type.Union([InputText, InputAudio, InputImage])),
    }),
    closed({
      ...ITEM,
      type: Type.Literal('message'),
      role: Type.Literal('system'),
      content: Type.Array(InputText),
    }),
    assistantItemSchema(names),
    closed({
      ...ITEM,
      type: Type.Literal('function_call'),
      name: Type.String(),
      arguments: Type.String(),
      call_id: Type.Optional(Type.String()),
    }),
    closed({
      ...ITEM,
      type: Type.Literal('function_call_output'),
      call_id: Type.String(),
      output: Type.String(),
    }),
  ]);
}

const CODES = Object.keys(ERROR_TYPES) as RealtimeErrorCode[];
const TYPES = [...new Set(Object.values(ERROR_TYPES))] as RealtimeErrorType[];
export const ERROR_CODE = oneOf(CODES);
export const ERROR_TYPE = oneOf(TYPES);

/** Fields of a response in every state. */
const RESPONSE = {
  object: Type.Literal('realtime.response'),
  id: RESPONSE_ID,
  conversation_id: Type.String({ pattern: '^conv_.' }),
  output_modalities: Type.Array(Type.Literal('audio'), { minItems: 1, maxItems: 1 }),
  max_output_tokens: Type.Literal('inf'),
  audio: closed({ output: closed({ format: FormatSchema, voice: Type.Optional(Type.String()) }) }),
  /** Echoed from `response.create`. */
  metadata: nullable(open({})),
};

export const StartedResponseSchema = closed({
  ...RESPONSE,
  status: Type.Literal('in_progress'),
  status_details: Type.Null(),
  output: Type.Array(Type.Never(), { maxItems: 0 }),
  usage: Type.Null(),
});

/** A finished response: completed, cancelled or failed (openai-wire 8.7). */
export function endedResponseSchema<Audio extends string, Text extends string>(
  names: PartNames<Audio, Text>,
) {
  const ended = { ...RESPONSE, output: Type.Array(assistantItemSchema(names), { maxItems: 1 }) };
  return Type.Union([
    closed({
      ...ended,
      status: Type.Literal('completed'),
      status_details: Type.Null(),
      usage: ResponseUsageSchema,
    }),
    closed({
      ...ended,
      status: Type.Literal('cancelled'),
      status_details: closed({ type: Type.Literal('cancelled'), reason: Type.Literal('client_cancelled') }),
      usage: Type.Null(),
    }),
    closed({
      ...ended,
      status: Type.Literal('failed'),
      status_details: closed({
        type: Type.Literal('failed'),
        error: closed({ type: ERROR_TYPE, code: ERROR_CODE, message: Type.String() }),
      }),
      usage: Type.Null(),
    }),
  ]);
}

export const TurnDetectionSchema = closed({
  type: Type.Literal('server_vad'),
  threshold: Type.Number({ minimum: THRESHOLD.from, maximum: THRESHOLD.to }),
  prefix_padding_ms: Type.Number({ minimum: VAD_MS.from, maximum: VAD_MS.to }),
  silence_duration_ms: Type.Number({ minimum: VAD_MS.from, maximum: VAD_MS.to }),
  // The service never creates responses by itself; with true, clients would wait for one (openai-wire 8.3).
  create_response: Type.Literal(false),
  interrupt_response: Type.Literal(false),
  idle_timeout_ms: Type.Null(),
});

/** The session (spec 2.6). Open where fields of the GA protocol are echoed without effect. */
export const SessionSchema = open({
  id: Type.String({ pattern: '^sess_.' }),
  object: Type.Literal('realtime.session'),
  type: oneOf(['transcription', 'translation', 'realtime']),
  model: Type.Optional(Type.String()),
  audio: closed({
    input: open({
      format: FormatSchema,
      transcription: open({ model: Type.String(), language: Type.Optional(Type.String()) }),
      turn_detection: nullable(TurnDetectionSchema),
      noise_reduction: Type.Null(),
    }),
    output: open({
      format: FormatSchema,
      voice: Type.Optional(Type.String()),
      language: Type.Optional(Type.String()),
    }),
  }),
  output_modalities: Type.Array(oneOf(['audio', 'text'])),
  tts_model: Type.String(),
});

type ItemIn<Audio extends string, Text extends string> = Frozen<
  Static<ReturnType<typeof itemSchema<Audio, Text>>>
>;
type AssistantItemIn<Audio extends string, Text extends string> = Frozen<
  Static<ReturnType<typeof assistantItemSchema<Audio, Text>>>
>;

/** An item of the conversation, with the names of the `spec` dialect. */
export type WireItem = ItemIn<'audio', 'text'>;
export type WireAssistantItem = AssistantItemIn<'audio', 'text'>;
/** An item of the conversation, with the names of the GA dialect. */
export type GaItem = ItemIn<'output_audio', 'output_text'>;
export type GaAssistantItem = AssistantItemIn<'output_audio', 'output_text'>;
/** `response` of `response.created`. */
export type WireStartedResponse = Frozen<Static<typeof StartedResponseSchema>>;
/** `response` of `response.done`. */
export type WireEndedResponse = Frozen<Static<ReturnType<typeof endedResponseSchema<'audio', 'text'>>>>;
export type WireSession = Frozen<Static<typeof SessionSchema>>;
export type WireFormat = Frozen<Static<typeof FormatSchema>>;
export type WireTurnDetection = Frozen<Static<typeof TurnDetectionSchema>>;
export type ResponseUsage = Frozen<Static<typeof ResponseUsageSchema>>;
