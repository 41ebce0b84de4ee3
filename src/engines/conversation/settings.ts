import { type Static, Type } from '@sinclair/typebox';
import type { ConversationModelSettings } from '../../contract/core/settings.ts';
import { oneOf } from '../../kit/validation/type-errors.ts';
import { kindKey, modelTable, nameKey } from '../table-keys.ts';

const KIND = 'conversation';
const DEFAULTS = {
  stt: 'svc-stt',
  llm: 'qwen2.5-1.5b-instruct',
  tts: 'svc-tts',
  instructions:
    'You are a friendly voice assistant. Your replies are spoken: answer in one or two short sentences of plain text, without lists, headings or emoji. If you did not understand the user, ask.',
  turnDetection: 'semantic_vad',
  maxSessionS: 3600,
  sessionsPerOrganization: 100,
  maxToolOutputCharacters: 20_000,
} as const;

export const ConversationTable = modelTable({
  kind: kindKey(KIND, 'a conversation of a transcription, a language and a speech model'),
  stt: Type.Optional(nameKey('id of the transcription model', { default: DEFAULTS.stt })),
  llm: Type.Optional(nameKey('id of the language model', { default: DEFAULTS.llm })),
  tts: Type.Optional(
    nameKey('id of the speech model; default: svc-tts, or Piper on a machine where that is too slow'),
  ),
  instructions: Type.Optional(
    Type.String({ maxLength: 65_536, description: 'for sessions without instructions' }),
  ),
  voice: Type.Optional(
    nameKey('stored voice, or name of a voice of the speech model; default: the voice of that model'),
  ),
  turn_detection: Type.Optional(
    oneOf(['semantic_vad', 'server_vad', 'none'], {
      default: DEFAULTS.turnDetection,
      description: 'for sessions that set none; `semantic_vad` has end-of-turn detection',
    }),
  ),
  interruption_guard: Type.Optional(
    Type.Boolean({
      default: true,
      description: 'coughs, noise, echo and back-channels do not interrupt the assistant',
    }),
  ),
  speculative_replies: Type.Optional(
    Type.Boolean({
      default: true,
      description:
        'a reply may start before the turn has certainly ended; it is discarded, unbilled, if the user continues',
    }),
  ),
  language: Type.Optional(nameKey('language of the user: code, tag or name; default: detected')),
  temperature: Type.Optional(
    Type.Number({ minimum: 0, maximum: 2, description: 'default: that of the language model' }),
  ),
  max_output_tokens: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 4096,
      description: 'of a response; default: that of the language model',
    }),
  ),
  reasoning_effort: Type.Optional(
    oneOf(['none', 'minimal', 'low', 'medium', 'high'], {
      description: 'for reasoning models of upstream servers; default: not sent',
    }),
  ),
  fallback_message: Type.Optional(
    Type.String({ minLength: 1, maxLength: 500, description: 'spoken when a reply fails; default: nothing' }),
  ),
  max_session_seconds: Type.Optional(
    Type.Integer({
      minimum: 10,
      maximum: 86_400,
      default: DEFAULTS.maxSessionS,
      description: 'maximum duration of a session',
    }),
  ),
  sessions_per_organization: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100_000,
      default: DEFAULTS.sessionsPerOrganization,
      description: 'concurrent sessions; further sessions are rejected',
    }),
  ),
  max_tool_output_characters: Type.Optional(
    Type.Integer({
      minimum: 100,
      maximum: 1_000_000,
      default: DEFAULTS.maxToolOutputCharacters,
      description: 'length of the output of a function',
    }),
  ),
});

export function parseConversation(table: Static<typeof ConversationTable>): ConversationModelSettings {
  return {
    kind: KIND,
    stt: table.stt ?? DEFAULTS.stt,
    llm: table.llm ?? DEFAULTS.llm,
    tts: table.tts ?? DEFAULTS.tts,
    choosesSpeech: table.tts === undefined,
    instructions: table.instructions ?? DEFAULTS.instructions,
    voice: table.voice,
    turnDetection: table.turn_detection ?? DEFAULTS.turnDetection,
    guardsInterruptions: table.interruption_guard ?? true,
    preparesReplies: table.speculative_replies ?? true,
    language: table.language,
    temperature: table.temperature,
    maxOutputTokens: table.max_output_tokens,
    reasoningEffort: table.reasoning_effort,
    fallbackMessage: table.fallback_message,
    maxSessionS: table.max_session_seconds ?? DEFAULTS.maxSessionS,
    sessionsPerOrganization: table.sessions_per_organization ?? DEFAULTS.sessionsPerOrganization,
    maxToolOutputCharacters: table.max_tool_output_characters ?? DEFAULTS.maxToolOutputCharacters,
  };
}
