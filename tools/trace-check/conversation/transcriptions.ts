/** Transcriptions: one for each committed turn, ended once. */

import { at, fieldsOf, isCount, shown } from '../rules/trace.ts';
import { withTranscript } from './items.ts';
import type { Report } from './rules.ts';
import { type ConversationState, mainResponse, type OpenTranscription, type Rules } from './state.ts';

const PREFIX = 'conversation.item.input_audio_transcription.';

export const transcriptionRules: Rules = (state, { type, fields }, report) => {
  if (!type.startsWith(PREFIX)) return state;
  const open = state.transcriptions.find(({ itemId }) => itemId === fields.item_id);
  if (open === undefined) {
    report(
      'transcription-order',
      `${shown(fields.item_id)} is not committed, or its transcription has ended`,
    );
    return state;
  }
  if (fields.content_index !== 0) report('output-index', 'content_index must be 0');
  switch (type.slice(PREFIX.length)) {
    case 'delta': {
      const longer = { ...open, text: open.text + String(fields.delta) };
      const transcriptions = state.transcriptions.map((each) => (each === open ? longer : each));
      return { ...state, transcriptions };
    }
    case 'completed': {
      const { transcript, usage } = fields;
      if (transcript !== open.text) {
        report('transcription-text', `the transcript of ${open.itemId} differs from its deltas`);
      }
      if (!addsUp(usage)) report('transcription-usage', `the usage of ${open.itemId} is ${shown(usage)}`);
      const hasWords = String(transcript).trim() !== '';
      const isOwed = hasWords && open.hasReply !== 'no' && state.owed !== 'yes';
      const owed = isOwed ? open.hasReply : state.owed;
      return ended(withTranscript({ ...state, owed }, open.itemId, transcript), open);
    }
    default:
      return {
        ...ended(state, open),
        permittedAt: open.hasReply === 'no' ? state.permittedAt : state.events,
      };
  }
};

/** A response that waited for the last transcript answers all turns. */
function ended(state: ConversationState, open: OpenTranscription): ConversationState {
  const transcriptions = state.transcriptions.filter((each) => each !== open);
  const next = { ...state, transcriptions };
  if (transcriptions.length > 0) return next;
  const hasReply = mainResponse(state)?.isWaiting ?? 'no';
  const responses = state.responses.map((each) => ({ ...each, isWaiting: 'no' as const }));
  const owed = hasReply === 'yes' ? 'no' : hasReply === 'maybe' && next.owed === 'yes' ? 'maybe' : next.owed;
  return { ...next, responses, owed };
}

function addsUp(usage: unknown): boolean {
  const { type, total_tokens, input_tokens, output_tokens } = fieldsOf(usage);
  const [text, audio] = ['text_tokens', 'audio_tokens'].map((name) =>
    at(usage, `input_token_details.${name}`),
  );
  return (
    type === 'tokens' &&
    isCount(input_tokens) &&
    isCount(output_tokens) &&
    isCount(text) &&
    isCount(audio) &&
    total_tokens === input_tokens + output_tokens &&
    input_tokens === text + audio
  );
}

/** Reports the turns without a transcript at a quiet end. */
export function untranscribed({ transcriptions }: ConversationState, report: Report): void {
  for (const { itemId } of transcriptions) {
    report('transcription-order', `the transcription of ${itemId} has neither completed nor failed`);
  }
}
