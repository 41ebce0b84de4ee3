/** The events of conversations, and their names in both protocols. */

import type { Names } from './state.ts';

const BETA: Readonly<Record<string, string>> = {
  'response.text.delta': 'response.output_text.delta',
  'response.text.done': 'response.output_text.done',
  'response.audio_transcript.delta': 'response.output_audio_transcript.delta',
  'response.audio_transcript.done': 'response.output_audio_transcript.done',
  'response.audio.delta': 'response.output_audio.delta',
  'response.audio.done': 'response.output_audio.done',
  'conversation.item.created': 'conversation.item.added',
};
const ONLY_GA: ReadonlySet<string> = new Set([...Object.values(BETA), 'conversation.item.done']);
const COMMON: ReadonlySet<string> = new Set([
  'error',
  'session.created',
  'session.updated',
  'input_audio_buffer.speech_started',
  'input_audio_buffer.speech_stopped',
  'input_audio_buffer.committed',
  'input_audio_buffer.cleared',
  'input_audio_buffer.timeout_triggered',
  'conversation.item.retrieved',
  'conversation.item.truncated',
  'conversation.item.deleted',
  'conversation.item.input_audio_transcription.delta',
  'conversation.item.input_audio_transcription.completed',
  'conversation.item.input_audio_transcription.failed',
  'response.created',
  'response.output_item.added',
  'response.output_item.done',
  'response.content_part.added',
  'response.content_part.done',
  'response.function_call_arguments.delta',
  'response.function_call_arguments.done',
  'response.done',
]);

/** The name of an event in the current protocol; undefined if the protocol of the connection has no such event. */
export function currentName(type: string, names: Names): string | undefined {
  if (COMMON.has(type)) return type;
  if (names === 'ga') return ONLY_GA.has(type) ? type : undefined;
  return Object.hasOwn(BETA, type) ? BETA[type] : undefined;
}
