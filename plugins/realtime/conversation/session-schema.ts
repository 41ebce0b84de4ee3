/** The session in `session.created` and `session.updated`, in the names of both protocols. Strict clients accept no other forms. */

import { type Static, type TProperties, Type } from '@sinclair/typebox';
import { FormatSchema } from '../../../src/conversation/events/server-events.ts';
import { closed, type Frozen, nullable, open } from '../../../src/kit/validation/schemas.ts';
import { oneOf } from '../../../src/kit/validation/type-errors.ts';
import { IDLE_TIMEOUT_MS, VAD_MS } from '../limits.ts';

const REACTIONS = { create_response: Type.Boolean(), interrupt_response: Type.Boolean() };
const VadMs = Type.Integer({ minimum: VAD_MS.from, maximum: VAD_MS.to });

/** All fields are present: clients act on them. */
export const ConversationDetectionSchema = Type.Union([
  closed({
    type: Type.Literal('server_vad'),
    threshold: Type.Number({ minimum: 0, maximum: 1 }),
    prefix_padding_ms: VadMs,
    silence_duration_ms: VadMs,
    idle_timeout_ms: nullable(Type.Integer({ minimum: IDLE_TIMEOUT_MS.from, maximum: IDLE_TIMEOUT_MS.to })),
    ...REACTIONS,
  }),
  closed({
    type: Type.Literal('semantic_vad'),
    eagerness: oneOf(['low', 'medium', 'high', 'auto']),
    ...REACTIONS,
  }),
]);

/** Clients reject other keys. */
const TranscriptionSchema = closed({
  model: Type.String(),
  language: nullable(Type.String()),
  prompt: nullable(Type.String()),
});
const NoiseReductionSchema = open({
  type: oneOf(['near_field', 'far_field']),
  strength: Type.Optional(Type.Number({ minimum: 0 })),
});
const Detection = nullable(ConversationDetectionSchema);
const MaxTokens = Type.Union([Type.Integer({ minimum: 1 }), Type.Literal('inf')]);
const Speed = Type.Number({ minimum: 0.25, maximum: 1.5 });

/** Fields with the same names in both protocols. */
const COMMON = {
  type: Type.Literal('realtime'),
  object: Type.Literal('realtime.session'),
  id: Type.String({ pattern: '^sess_.' }),
  model: Type.String(),
  expires_at: Type.Integer(),
  instructions: Type.String(),
  tools: Type.Array(open({ type: Type.Literal('function'), name: Type.String() })),
  tool_choice: Type.Union([
    Type.String(),
    closed({ type: Type.Literal('function'), name: Type.String({ minLength: 1 }) }),
  ]),
  truncation: Type.Union([
    oneOf(['auto', 'disabled']),
    closed({
      type: Type.Literal('retention_ratio'),
      retention_ratio: Type.Number({ minimum: 0, maximum: 1 }),
      token_limits: Type.Optional(closed({ post_instructions: Type.Integer({ minimum: 0 }) })),
    }),
  ]),
  // Echoed.
  tracing: Type.Union([Type.Literal('auto'), open({}), Type.Null()]),
  prompt: nullable(open({})),
  include: nullable(Type.Array(Type.String())),
  metadata: Type.Optional(nullable(open({}))),
  parallel_tool_calls: Type.Optional(nullable(Type.Boolean())),
  reasoning: Type.Optional(nullable(open({}))),
  temperature: Type.Optional(nullable(Type.Number())),
} satisfies TProperties;

export const ConversationSessionSchema = closed({
  ...COMMON,
  output_modalities: Type.Array(oneOf(['audio', 'text']), { minItems: 1, maxItems: 1 }),
  max_output_tokens: MaxTokens,
  audio: closed({
    input: closed({
      format: FormatSchema,
      transcription: TranscriptionSchema,
      noise_reduction: nullable(NoiseReductionSchema),
      turn_detection: Detection,
    }),
    output: closed({
      format: FormatSchema,
      voice: Type.String(),
      language: Type.Optional(Type.String()),
      speed: Speed,
    }),
  }),
});

export const BetaFormatSchema = oneOf(['pcm16', 'g711_ulaw', 'g711_alaw']);
/** Text and audio together mean audio. */
export const BetaModalitiesSchema = Type.Array(oneOf(['audio', 'text']), { minItems: 1, maxItems: 2 });

export const BetaConversationSessionSchema = closed({
  ...COMMON,
  modalities: BetaModalitiesSchema,
  max_response_output_tokens: MaxTokens,
  input_audio_format: BetaFormatSchema,
  input_audio_transcription: TranscriptionSchema,
  input_audio_noise_reduction: nullable(NoiseReductionSchema),
  turn_detection: Detection,
  output_audio_format: BetaFormatSchema,
  voice: Type.String(),
  speed: Speed,
});

export type WireConversationSession = Frozen<Static<typeof ConversationSessionSchema>>;
export type BetaConversationSession = Frozen<Static<typeof BetaConversationSessionSchema>>;
