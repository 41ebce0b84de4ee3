/** Every event of the server is known, has a unique id, and belongs to one dialect (spec 2.6, 6.2; openai-wire 8.2). */

import type { Report } from './rules.ts';
import type { Dialect, ServerFrame, State } from './state.ts';
import { shown } from './trace.ts';

/** The events of spec 6.2 and openai-wire 8.5, with their dialect. */
const EVENTS: ReadonlyMap<string, Dialect | 'both'> = new Map<string, Dialect | 'both'>([
  ...[
    'session.created',
    'session.updated',
    'error',
    'input_audio_buffer.committed',
    'input_audio_buffer.cleared',
    'input_audio_buffer.speech_started',
    'input_audio_buffer.speech_stopped',
    'conversation.item.created',
    'conversation.item.input_audio_transcription.delta',
    'conversation.item.input_audio_transcription.completed',
    'conversation.item.input_audio_transcription.failed',
    'response.created',
    'response.output_item.added',
    'response.output_item.done',
    'response.content_part.added',
    'response.content_part.done',
    'response.done',
  ].map((name) => [name, 'both'] as const),
  ...['delta', 'done'].flatMap((word) => [
    [`response.audio.${word}`, 'spec'] as const,
    [`response.audio_transcript.${word}`, 'spec'] as const,
    [`response.output_audio.${word}`, 'ga'] as const,
    [`response.output_audio_transcript.${word}`, 'ga'] as const,
  ]),
  ...['added', 'done', 'retrieved', 'truncated'].map((word) => [`conversation.item.${word}`, 'ga'] as const),
]);

export function eventRules(state: State, event: ServerFrame, report: Report): State {
  return checkDialect(checkId(state, event, report), event, report);
}

function checkId(state: State, event: ServerFrame, report: Report): State {
  const id = event.fields.event_id;
  if (typeof id !== 'string' || !id.startsWith('event_')) {
    report('event-id', `event_id must be a text that begins with event_, not ${shown(id)}`);
    return state;
  }
  if (state.eventIds.has(id)) report('event-id', `event_id ${shown(id)} was used before`);
  return { ...state, eventIds: state.eventIds.with(id) };
}

function checkDialect(state: State, event: ServerFrame, report: Report): State {
  const dialect = EVENTS.get(event.type);
  if (dialect === undefined) report('known-event', `${shown(event.type)} is not a known event`);
  if (dialect === undefined || dialect === 'both' || dialect === state.dialect) return state;
  // The first session.update of the client may choose the GA names.
  const chosen = state.dialect === undefined || (dialect === 'ga' && state.choseGa === true);
  if (chosen) return { ...state, dialect };
  report('one-dialect', `${event.type} is a name of the other dialect`);
  return state;
}
