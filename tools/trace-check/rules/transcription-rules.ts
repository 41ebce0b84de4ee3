/** Transcriptions: one at a time, in the order of the commits, each ended once (spec 3.4, 6.1, 6.2 order rule 1). */

import type { Report } from './rules.ts';
import type { OpenTranscription, ServerFrame, State } from './state.ts';
import { at, fieldsOf, isCount, isFields, shown, textAt } from './trace.ts';

const PREFIX = 'conversation.item.input_audio_transcription.';

export function transcriptionRules(state: State, event: ServerFrame, report: Report): State {
  if (event.type === 'input_audio_buffer.committed') {
    const itemId = textAt(event.fields, 'item_id') ?? '';
    return { ...state, transcriptions: [...state.transcriptions, { itemId, text: '' }] };
  }
  if (!event.type.startsWith(PREFIX)) return state;
  if (event.fields.content_index !== 0) report('field-shape', 'content_index must be 0');
  const open = openTranscription(state, event, report);
  if (open === undefined) return state;
  const rest = state.transcriptions.filter((each) => each !== open);
  switch (event.type.slice(PREFIX.length)) {
    case 'delta': {
      const delta = event.fields.delta;
      if (typeof delta !== 'string') report('field-shape', `delta must be a text, not ${shown(delta)}`);
      const extended = { ...open, text: open.text + (typeof delta === 'string' ? delta : '') };
      return {
        ...state,
        transcriptions: state.transcriptions.map((each) => (each === open ? extended : each)),
      };
    }
    case 'completed':
      completed(open, event, report);
      return { ...state, transcriptions: rest };
    case 'failed':
      failed(event, report);
      return { ...state, transcriptions: rest };
    default:
      return state;
  }
}

/** The open transcription of an event, which must be the first one. */
function openTranscription(state: State, event: ServerFrame, report: Report): OpenTranscription | undefined {
  const itemId = event.fields.item_id;
  const open = state.transcriptions.find((each) => each.itemId === itemId);
  const [first] = state.transcriptions;
  if (open === undefined || first === undefined) {
    report('transcription-order', `${shown(itemId)} is not committed, or its transcription has ended`);
  } else if (open !== first) {
    report('transcription-serial', `${shown(itemId)} is transcribed before ${first.itemId} has ended`);
  }
  return open;
}

function completed(open: OpenTranscription, event: ServerFrame, report: Report): void {
  const { transcript, usage } = event.fields;
  if (transcript !== open.text) {
    report('transcription-text', `the transcript of ${open.itemId} is not what its deltas say together`);
  }
  const { type, seconds } = fieldsOf(usage);
  if (type === 'duration' ? !isCount(seconds, Number.isFinite) : !addsUp(usage)) {
    report(
      'transcription-usage',
      `the usage of ${open.itemId} is missing or does not add up: ${shown(usage)}`,
    );
  }
}

function addsUp(usage: unknown): boolean {
  const { type, total_tokens, input_tokens, output_tokens } = fieldsOf(usage);
  const text = at(usage, 'input_token_details.text_tokens');
  const audio = at(usage, 'input_token_details.audio_tokens');
  return (
    type === 'tokens' &&
    isCount(total_tokens) &&
    isCount(input_tokens) &&
    isCount(output_tokens) &&
    isCount(text) &&
    isCount(audio) &&
    total_tokens === input_tokens + output_tokens &&
    input_tokens === text + audio
  );
}

function failed(event: ServerFrame, report: Report): void {
  const { error } = event.fields;
  const { code } = fieldsOf(error);
  if (!isFields(error) || Object.values(error).includes(null)) {
    report(
      'transcription-failure',
      `the error of ${shown(event.fields.item_id)} must have no null: ${shown(error)}`,
    );
  } else if (code !== 'upstream_error' && code !== 'internal_error') {
    report(
      'transcription-failure',
      `the code of a failure is upstream_error or internal_error, not ${shown(code)}`,
    );
  }
}
