/** Responses: one at a time, their events in one order, one end (spec 3.4, 6.2 order rule 3; openai-wire 8.6, 8.7). */

import { newItem } from './item-rules.ts';
import { responseEnd } from './response-end.ts';
import type { Report } from './rules.ts';
import type { Dialect, OpenResponse, ServerFrame, Stage, State } from './state.ts';
import { at, fieldsOf, same, shown, textAt } from './trace.ts';

/** The events of a response, independent of the dialect. */
type Step =
  | 'item_added'
  | 'item_announced'
  | 'part_added'
  | 'audio'
  | 'transcript'
  | 'transcript_done'
  | 'audio_done'
  | 'part_done'
  | 'item_concluded'
  | 'item_done'
  | 'done';

const STEPS: Readonly<Record<string, readonly [Step, Dialect?]>> = {
  'response.output_item.added': ['item_added'],
  'response.content_part.added': ['part_added'],
  'response.audio.delta': ['audio', 'spec'],
  'response.output_audio.delta': ['audio', 'ga'],
  'response.audio_transcript.delta': ['transcript', 'spec'],
  'response.output_audio_transcript.delta': ['transcript', 'ga'],
  'response.audio_transcript.done': ['transcript_done', 'spec'],
  'response.output_audio_transcript.done': ['transcript_done', 'ga'],
  'response.audio.done': ['audio_done', 'spec'],
  'response.output_audio.done': ['audio_done', 'ga'],
  'response.content_part.done': ['part_done'],
  'response.output_item.done': ['item_done'],
  'response.done': ['done'],
};

/** The stages in which each event is allowed. */
const AFTER: Readonly<Record<Step, readonly Stage[]>> = {
  item_added: ['created'],
  item_announced: ['item_added'],
  part_added: ['item_added'],
  audio: ['part_added', 'audio'],
  transcript: ['part_added', 'audio', 'transcript'],
  transcript_done: ['part_added', 'audio', 'transcript'],
  // A cancelled or failed response has no transcript_done.
  audio_done: ['part_added', 'audio', 'transcript_done'],
  part_done: ['audio_done'],
  item_concluded: ['part_done'],
  item_done: ['part_done'],
  done: ['item_done'],
};

export function responseRules(state: State, event: ServerFrame, report: Report): State {
  if (event.type === 'response.created') return created(state, event, report);
  const found = stepOf(state, event);
  if (found === undefined) return state;
  const [step, dialect] = found;
  const responseId = step === 'done' ? at(event.fields, 'response.id') : event.fields.response_id;
  const { response } = state;
  const ofItem = step === 'item_announced' || step === 'item_concluded';
  if (response === undefined || (!ofItem && response.id !== responseId)) {
    const ended = typeof responseId === 'string' && state.responseIds.has(responseId);
    if (ended && responseId !== response?.id)
      report('response-end', `${event.type} of ${responseId}, which has ended`);
    else
      report('response-ids', `${event.type} of ${shown(responseId)}; in flight is ${response?.id ?? 'none'}`);
    return state;
  }
  const isRepeated =
    (step === 'item_announced' && response.announced) || (step === 'item_concluded' && response.concluded);
  if (isRepeated || !AFTER[step].includes(response.stage)) {
    report('response-order', `${event.type} came after ${response.stage} of ${response.id}`);
  }
  indices(response, step, event, report);
  if (step === 'done') {
    responseEnd(response, fieldsOf(event.fields.response), report);
    return { ...state, response: undefined };
  }
  return stepped(state, response, step, dialect, event, report);
}

/** The step of an event; undefined if it does not belong to a response. */
function stepOf(state: State, event: ServerFrame): readonly [Step, Dialect?] | undefined {
  if (Object.hasOwn(STEPS, event.type)) return STEPS[event.type];
  const added = event.type === 'conversation.item.added';
  if (!added && event.type !== 'conversation.item.done') return undefined;
  const itemId = textAt(event.fields, 'item.id');
  const assistant = at(event.fields, 'item.role') === 'assistant';
  const ofResponse = state.response !== undefined && state.response.itemId === itemId;
  if (!assistant || !ofResponse) return undefined;
  return [added ? 'item_announced' : 'item_concluded', 'ga'];
}

function created(state: State, event: ServerFrame, report: Report): State {
  const response = fieldsOf(event.fields.response);
  const { id, conversation_id: conversationId } = response;
  if (typeof id !== 'string' || !id.startsWith('resp_')) {
    report('id-prefix', `the id of a response begins with resp_; ${shown(id)} does not`);
  }
  if (typeof conversationId !== 'string' || !conversationId.startsWith('conv_')) {
    report('id-prefix', `the id of a conversation begins with conv_; ${shown(conversationId)} does not`);
  }
  const name = String(id);
  if (state.responseIds.has(name)) report('response-ids', `${name} already names a response`);
  if (state.response !== undefined) {
    report('response-one', `${name} is created while ${state.response.id} is in flight`);
  }
  const modalities = state.session?.output_modalities;
  if (!Array.isArray(modalities) || !modalities.includes('audio')) {
    report('response-requested', `${name} is created, but output_modalities lacks audio`);
  }
  const { status, status_details, usage, output } = response;
  if (status !== 'in_progress' || status_details !== null || usage !== null || !same(output, [])) {
    report('response-status', `${name} must begin in_progress, with no details, no usage and no output`);
  }
  const open: OpenResponse = {
    id: name,
    stage: 'created',
    conversationId: typeof conversationId === 'string' ? conversationId : undefined,
    itemId: undefined,
    previousItemId: null,
    dialect: undefined,
    announced: false,
    concluded: false,
    text: '',
    transcript: undefined,
    partTranscript: undefined,
    item: undefined,
  };
  return { ...state, response: open, responseIds: state.responseIds.with(name) };
}

/** All events have the same item id and indices. */
function indices(response: OpenResponse, step: Step, event: ServerFrame, report: Report): void {
  if (step === 'done' || step === 'item_announced' || step === 'item_concluded') return;
  const { item_id, output_index, content_index } = event.fields;
  if (output_index !== 0) report('response-ids', `output_index must be 0, not ${shown(output_index)}`);
  if (step === 'item_added') return;
  const itemId = step === 'item_done' ? at(event.fields, 'item.id') : item_id;
  if (itemId !== response.itemId) {
    report(
      'response-ids',
      `${event.type} is of ${shown(itemId)}; the item of ${response.id} is ${response.itemId}`,
    );
  }
  if (step !== 'item_done' && content_index !== 0) {
    report('response-ids', `content_index must be 0, not ${shown(content_index)}`);
  }
}

function stepped(
  state: State,
  before: OpenResponse,
  step: Exclude<Step, 'done'>,
  dialect: Dialect | undefined,
  event: ServerFrame,
  report: Report,
): State {
  if (dialect !== undefined && before.dialect !== undefined && before.dialect !== dialect) {
    report('one-dialect', `${event.type}, though ${before.id} spoke the names of the other dialect`);
  }
  const response: OpenResponse = { ...before, dialect: before.dialect ?? dialect };
  const moved = (change: Partial<OpenResponse>): State => ({
    ...state,
    response: { ...response, ...change },
  });
  switch (step) {
    case 'item_added':
      return itemAdded(state, response, event, report);
    case 'item_announced':
      if (!same(event.fields.item, before.item) || event.fields.previous_item_id !== before.previousItemId) {
        report(
          'item-announced',
          `must be the item of response.output_item.added, behind ${shown(before.previousItemId)}`,
        );
      }
      return moved({ announced: true });
    case 'part_added':
      if (!same(event.fields.part, { type: 'audio', transcript: '' })) {
        report(
          'item-shape',
          `the part must begin as audio without transcript, not ${shown(event.fields.part)}`,
        );
      }
      gaItems(state, before.announced, 'added', before, report);
      return moved({ stage: 'part_added' });
    case 'audio':
      audioDelta(event, report);
      return moved({ stage: 'audio' });
    case 'transcript': {
      const delta = textAt(event.fields, 'delta');
      if (delta === undefined) report('field-shape', 'delta must be a text');
      return moved({ stage: 'transcript', text: before.text + (delta ?? '') });
    }
    case 'transcript_done': {
      const transcript = textAt(event.fields, 'transcript');
      if (transcript !== before.text) {
        report('response-text', `the transcript of ${before.id} is not what its deltas say together`);
      }
      return moved({ stage: 'transcript_done', transcript });
    }
    case 'audio_done':
      return moved({ stage: 'audio_done' });
    case 'part_done':
      return moved({ stage: 'part_done', partTranscript: partDone(before, event, report) });
    case 'item_concluded':
      return moved({ concluded: true, item: event.fields.item });
    case 'item_done':
      gaItems(state, before.concluded, 'done', before, report);
      if (before.concluded && !same(before.item, event.fields.item)) {
        report('item-announced', `conversation.item.done has another item than ${event.type}`);
      }
      return moved({ stage: 'item_done', item: event.fields.item });
  }
}

function itemAdded(state: State, response: OpenResponse, event: ServerFrame, report: Report): State {
  const { item } = event.fields;
  const { id, content, ...rest } = fieldsOf(item);
  const shape = { object: 'realtime.item', type: 'message', status: 'in_progress', role: 'assistant' };
  if (!same(rest, shape) || !same(content, [])) {
    report(
      'item-shape',
      `the item of ${response.id} must begin as an empty message of the assistant, in_progress`,
    );
  }
  const next = newItem(state, id, false, report);
  const named = { ...response, stage: 'item_added', itemId: String(id), item } as const;
  return {
    ...next,
    lastItemId: String(id),
    response: { ...named, previousItemId: state.lastItemId },
  };
}

/** GA clients also receive the assistant's item (openai-wire 8.10 D). */
function gaItems(
  state: State,
  received: boolean,
  word: string,
  response: OpenResponse,
  report: Report,
): void {
  if (state.dialect === 'ga' && !received) {
    report('item-announced', `conversation.item.${word} of ${response.itemId} is missing`);
  }
}

function audioDelta(event: ServerFrame, report: Report): void {
  const { delta } = event.fields;
  if (typeof delta !== 'string' || delta.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(delta)) {
    report('field-shape', 'the delta of audio must be base64, with padding and not empty');
  }
}

function partDone(response: OpenResponse, event: ServerFrame, report: Report): string | undefined {
  const transcript = textAt(event.fields, 'part.transcript');
  if (at(event.fields, 'part.type') !== 'audio' || transcript === undefined) {
    report('item-shape', `the part must be audio with its transcript, not ${shown(event.fields.part)}`);
  }
  if (response.transcript !== undefined && transcript !== response.transcript) {
    report('response-text', `the part of ${response.id} has another transcript than its deltas`);
  }
  return transcript;
}
