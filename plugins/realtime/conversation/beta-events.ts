/** Converts the events of a conversation to the names of OpenAI's beta protocol, which LiveKit's Node plugin uses. */

import { isRecord } from '../../../src/kit/validation/is-record.ts';
import type { BetaConversationSession, WireConversationSession } from './session-schema.ts';

/** Names of events that differ. */
export const BETA_NAMES: Readonly<Record<string, string>> = {
  'response.output_text.delta': 'response.text.delta',
  'response.output_text.done': 'response.text.done',
  'response.output_audio_transcript.delta': 'response.audio_transcript.delta',
  'response.output_audio_transcript.done': 'response.audio_transcript.done',
  'response.output_audio.delta': 'response.audio.delta',
  'response.output_audio.done': 'response.audio.done',
  'conversation.item.added': 'conversation.item.created',
};
/** Names of the parts of items. */
export const BETA_PARTS: Readonly<Record<string, string>> = { output_audio: 'audio', output_text: 'text' };
const FORMATS = {
  'audio/pcm': 'pcm16',
  'audio/pcmu': 'g711_ulaw',
  'audio/pcma': 'g711_alaw',
} as const;

/** An event of a connection, without `event_id`. */
export interface OutgoingEvent {
  readonly type: string;
}

/** Whether the beta protocol has an event of this type. */
export function hasBetaEvent(type: string): boolean {
  return type !== 'conversation.item.done';
}

/** @returns undefined if the beta protocol has no such event. */
export function toBetaEvent(event: OutgoingEvent): OutgoingEvent | undefined {
  if (!hasBetaEvent(event.type)) return undefined;
  const renamed: Readonly<Record<string, unknown>> = { ...event, type: BETA_NAMES[event.type] ?? event.type };
  return { ...renamed, ...betaPayload(renamed) } as unknown as OutgoingEvent;
}

function betaPayload({ session, response, item }: Readonly<Record<string, unknown>>): object {
  if (session !== undefined) return { session: betaSession(session as WireConversationSession) };
  if (isRecord(response)) return { response: betaResponse(response) };
  return item === undefined ? {} : { item: betaItem(item) };
}

function betaItem(item: unknown): unknown {
  if (!isRecord(item) || !Array.isArray(item.content)) return item;
  const content = item.content.map((part) =>
    isRecord(part) ? { ...part, type: BETA_PARTS[String(part.type)] ?? part.type } : part,
  );
  return { ...item, content };
}

function betaResponse(response: Readonly<Record<string, unknown>>): unknown {
  const { audio, output_modalities, output, ...others } = response;
  const { format, voice } = (audio as WireConversationSession['audio']).output;
  return {
    ...others,
    modalities: betaModalities(output_modalities as WireConversationSession['output_modalities']),
    output_audio_format: FORMATS[format.type],
    voice,
    output: Array.isArray(output) ? output.map(betaItem) : output,
  };
}

function betaSession(session: WireConversationSession): BetaConversationSession {
  const { audio, output_modalities, max_output_tokens, ...others } = session;
  const { input, output } = audio;
  return {
    ...others,
    modalities: betaModalities(output_modalities),
    max_response_output_tokens: max_output_tokens,
    input_audio_format: FORMATS[input.format.type],
    input_audio_transcription: input.transcription,
    input_audio_noise_reduction: input.noise_reduction,
    turn_detection: input.turn_detection,
    output_audio_format: FORMATS[output.format.type],
    voice: output.voice,
    speed: output.speed,
  };
}

function betaModalities(modalities: WireConversationSession['output_modalities']) {
  return modalities.includes('audio') ? (['text', 'audio'] as const) : (['text'] as const);
}
